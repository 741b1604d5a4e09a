"""Statements that are no queries, as Flink's SQL parser reads them."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from pyflow.table.sql import tree
from pyflow.table.sql.definition_grammar import DefinitionGrammar

# First words of statements that Flink has and PyFlow does not support.
_NOT_SUPPORTED = (
    "ANALYZE TABLE",
    "BEGIN STATEMENT SET",
    "CALL",
    "CLEAR",
    "COMPILE PLAN",
    "COMPILE AND EXECUTE PLAN",
    "EXECUTE PLAN",
    "DELETE",
    "UPDATE",
    "MERGE",
    "TRUNCATE TABLE",
    "STOP JOB",
    "QUIT",
)

_SHOWN = (
    "CATALOGS",
    "CURRENT CATALOG",
    "DATABASES",
    "CURRENT DATABASE",
    "TABLES",
    "VIEWS",
    "FULL MODULES",
    "MODULES",
    "USER FUNCTIONS",
    "FUNCTIONS",
    "COLUMNS",
    "CREATE TABLE",
    "CREATE VIEW",
    "CREATE CATALOG",
    "PARTITIONS",
    "MATERIALIZED TABLES",
    "JARS",
    "JOBS",
    "PROCEDURES",
    "MODELS",
    "CREATE MODEL",
)
_NAMED = ("COLUMNS", "CREATE TABLE", "CREATE VIEW", "CREATE CATALOG", "PARTITIONS", "CREATE MODEL")

_STATEMENTS = """
a statement (SELECT, INSERT, CREATE, DROP, ALTER, EXECUTE, EXPLAIN, DESCRIBE, SHOW, USE, SET, RESET,
LOAD, UNLOAD, ADD or REMOVE)
"""


class StatementGrammar(DefinitionGrammar):
    """One statement."""

    def statement(self) -> exp.Expr:
        """Take a statement and what ends it."""
        first = self._curr
        if not first:
            self.expected(_STATEMENTS.strip().replace("\n", " "))
        statement = self._one()
        last = self._prev
        self.sign(TokenType.SEMICOLON)
        if self._curr:
            if (
                last.token_type == TokenType.SEMICOLON
                or self._prev.token_type == TokenType.SEMICOLON
            ):
                self.expected("the end of the statement (one statement at a time)")
            self.expected("the end of the statement")
        return tree.at(statement, first, last)

    def _one(self) -> exp.Expr:
        if self.query_ahead() or self._curr.token_type == TokenType.L_PAREN:
            return self.query()
        if self.ahead("TABLE"):
            return self.query()
        for words in _NOT_SUPPORTED:
            if self.ahead(*words.split()):
                return self._not_supported(words)
        parse = _PARSERS.get(self._curr.text.upper())
        if parse is None or self._curr.token_type != TokenType.VAR:
            self.expected(_STATEMENTS.strip().replace("\n", " "))
        self._advance()
        return parse(self)

    # INSERT and what contains it

    def _insert(self) -> tree.Insert:
        overwrite = self.one_of(("INTO", "OVERWRITE")) == "OVERWRITE"
        self.take("TABLE")
        insert = tree.Insert(
            this=self.path("the name of a table"),
            overwrite=overwrite or None,
            expression=exp.Null(),
        )
        hint = self.hint()
        if hint is not None:
            insert.set("hints", [hint])
        if self.take("PARTITION"):
            insert.set("partition", self.in_parentheses(self._partition))
        if self._curr.token_type == TokenType.L_PAREN and not self._insert_query_ahead():
            insert.set("columns", self.in_parentheses(self.name))
        if not self.query_ahead() and self._curr.token_type != TokenType.L_PAREN:
            self.expected("a query")
        insert.set("expression", self.query())
        if self.take("ON"):
            self.require("CONFLICT")
            self.require("DO")
            insert.set("on_conflict", self.one_of(("DEDUPLICATE", "ERROR", "NOTHING")))
        return insert

    def _insert_query_ahead(self) -> bool:
        index = self._index
        while self._tokens[index].token_type == TokenType.L_PAREN and index + 1 < len(self._tokens):
            index += 1
        return self._tokens[index].text.upper() in ("SELECT", "WITH", "VALUES", "TABLE")

    def _execute(self) -> exp.Expr:
        if self.take("STATEMENT"):
            self.require("SET")
            return self._statement_set()
        if self.take("INSERT"):
            return self._insert()
        return self.query()

    def _statement_set(self) -> tree.StatementSet:
        self.require("BEGIN")
        statements = []
        while not self.take("END"):
            first = self._curr
            self.require("INSERT")
            statements.append(tree.at(self._insert(), first))
            if not self.sign(TokenType.SEMICOLON):
                self.expected("';'")
        if not statements:
            self.expected("'INSERT'")
        return tree.StatementSet(expressions=statements)

    def _explain(self) -> tree.Explain:
        details: list[str] = []
        if self.take("PLAN"):
            self.require("FOR")
        else:
            words = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")
            while any(self.ahead(word) for word in words):
                self._advance()
                details.append(self._prev.text.upper())
                if not self.sign(TokenType.COMMA):
                    break
        first = self._curr
        if self.take("INSERT"):
            statement: exp.Expr = self._insert()
        elif self.take("STATEMENT"):
            self.require("SET")
            statement = self._statement_set()
        elif self.take("EXECUTE"):
            self.require("STATEMENT", "SET")
            statement = self._statement_set()
        elif self.query_ahead() or first.token_type == TokenType.L_PAREN:
            statement = self.query()
        else:
            self.expected("a query, INSERT or STATEMENT SET")
        return tree.Explain(this=statement, details=details)

    # What tells and changes settings

    def _describe(self) -> exp.Expr:
        for kind in ("CATALOG", "FUNCTION", "DATABASE", "JOB", "MODEL"):
            if self.ahead(kind) and self._next and self._next.token_type != TokenType.SEMICOLON:
                if kind in ("JOB", "MODEL"):
                    return self._not_supported(f"DESCRIBE {kind}")
                self._advance()
                extended = self.take("EXTENDED") or None
                return tree.Describe(this=self.path("a name"), kind=kind, extended=extended)
        self.take("EXTENDED")
        return tree.Describe(this=self.path("the name of a table"), kind="TABLE")

    def _show(self) -> tree.Show:
        what = next((words for words in _SHOWN if self.take(*words.split())), None)
        if what is None:
            self.expected("what to show (" + ", ".join(_SHOWN) + ")")
        show = tree.Show(this=what)
        if what.startswith("CREATE ") or self.take("FROM") or self.take("IN"):
            show.set("source", self.path("a name"))
        elif what == "PARTITIONS":
            show.set("source", self.path("the name of a table"))
            if self.take("PARTITION"):
                show.set("partition", self.in_parentheses(self._partition))
        elif what in _NAMED:
            self.expected("'FROM'")
        negated = self.take("NOT")
        for word in ("LIKE", "ILIKE"):
            if self.take(word):
                show.set("operator", word)
                show.set("negated", negated or None)
                show.set("pattern", self.string())
                return show
        if negated:
            self.expected("LIKE or ILIKE")
        return show

    def _use(self) -> exp.Expr:
        if self.take("CATALOG"):
            return tree.Use(this=self.name("the name of a catalog"), kind="CATALOG")
        if self.take("MODULES"):
            return tree.Use(kind="MODULES", expressions=self.listed(self.name))
        return tree.Use(this=self.path("the name of a database"), kind="DATABASE")

    def _module(self) -> tree.NotSupported:
        return self._not_supported(f"{self._prev.text.upper()} MODULE")

    def _set(self) -> tree.Set:
        if not self._curr or self._curr.token_type == TokenType.SEMICOLON:
            return tree.Set()
        key = self.string("a key in single quotes")
        if not self.sign(TokenType.EQ):
            self.expected("'='")
        return tree.Set(this=key, expression=self.string("a value in single quotes"))

    def _reset(self) -> tree.Reset:
        if not self._curr or self._curr.token_type == TokenType.SEMICOLON:
            return tree.Reset()
        return tree.Reset(this=self.string("a key in single quotes"))

    def _jar(self) -> tree.Jar:
        kind = self._prev.text.upper()
        self.require("JAR")
        return tree.Jar(this=self.string("the path of a jar in single quotes"), kind=kind)


_PARSERS: dict[str, Callable[[StatementGrammar], exp.Expr]] = {
    "CREATE": StatementGrammar._create,
    "DROP": StatementGrammar._drop,
    "ALTER": StatementGrammar._alter,
    "INSERT": StatementGrammar._insert,
    "EXECUTE": StatementGrammar._execute,
    "EXPLAIN": StatementGrammar._explain,
    "DESCRIBE": StatementGrammar._describe,
    "DESC": StatementGrammar._describe,
    "SHOW": StatementGrammar._show,
    "USE": StatementGrammar._use,
    "LOAD": StatementGrammar._module,
    "UNLOAD": StatementGrammar._module,
    "SET": StatementGrammar._set,
    "RESET": StatementGrammar._reset,
    "ADD": StatementGrammar._jar,
    "REMOVE": StatementGrammar._jar,
}
