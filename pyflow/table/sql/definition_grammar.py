"""Statements that create, change and drop objects, as Flink's SQL parser reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from pyflow.table.sql import tree
from pyflow.table.sql.query_grammar import QueryGrammar
from pyflow.util.identifiers import quoted

_CREATE_NOT_SUPPORTED = ("MODEL", "MATERIALIZED TABLE", "CONNECTION", "OR REPLACE", "OR ALTER")

_LIKE_OPTIONS = [
    "ALL",
    "CONSTRAINTS",
    "DISTRIBUTION",
    "GENERATED",
    "METADATA",
    "OPTIONS",
    "PARTITIONS",
    "WATERMARKS",
]


class DefinitionGrammar(QueryGrammar):
    """CREATE, ALTER and DROP."""

    def _not_supported(self, name: str) -> tree.NotSupported:
        first = self._curr
        while self._curr and self._curr.token_type != TokenType.SEMICOLON:
            self._advance()
        return tree.at(tree.NotSupported(this=name), first)

    def _if_exists(self) -> bool:
        if self.take("IF"):
            self.require("EXISTS")
            return True
        return False

    def _if_not_exists(self) -> bool:
        if self.take("IF"):
            self.require("NOT", "EXISTS")
            return True
        return False

    def _comment(self) -> exp.Literal | None:
        return self.string() if self.take("COMMENT") else None

    def _options(self) -> list[tree.Option] | None:
        if not self.take("WITH"):
            return None
        return self._option_list()

    def _option_list(self) -> list[tree.Option]:
        if (
            self._curr.token_type == TokenType.L_PAREN
            and self._next.token_type == TokenType.R_PAREN
        ):
            self._advance(2)
            return []
        return self.in_parentheses(self.option)

    # CREATE

    def _create(self) -> exp.Expr:
        for words in _CREATE_NOT_SUPPORTED:
            if self.ahead(*words.split()):
                return self._not_supported(f"CREATE {words}")
        temporary = self.take("TEMPORARY")
        if temporary and self.ahead("MODEL"):
            return self._not_supported("CREATE MODEL")
        system = temporary and self.take("SYSTEM")
        if not system and self.take("TABLE"):
            return self._create_table(temporary)
        if not system and self.take("VIEW"):
            return self._create_view(temporary)
        if self.take("FUNCTION"):
            kind = "TEMPORARY SYSTEM" if system else "TEMPORARY" if temporary else None
            return self._create_function(kind)
        if not temporary and self.take("DATABASE"):
            return self._create_database()
        if not temporary and self.take("CATALOG"):
            exists = self._if_not_exists()
            name = self.name("the name of a catalog")
            return tree.CreateCatalog(
                this=name,
                exists=exists or None,
                comment=self._comment(),
                options=self._options(),
            )
        if system:
            self.expected("'FUNCTION'")
        return self.expected(
            "TABLE, VIEW, FUNCTION" + ("" if temporary else ", DATABASE or CATALOG")
        )

    def _create_table(self, temporary: bool) -> exp.Expr:
        exists = self._if_not_exists()
        name = self.path("the name of a table")
        table = tree.CreateTable(this=name, temporary=temporary or None, exists=exists or None)
        if self._names_ahead():
            table.set("names", self.in_parentheses(self.name))
        elif self._curr.token_type == TokenType.L_PAREN:
            table.set("columns", [])
            self.in_parentheses(lambda: self._table_element(table))
        table.set("comment", self._comment())
        if self.take("DISTRIBUTED"):
            return self._not_supported("DISTRIBUTED of CREATE TABLE")
        if self.take("PARTITIONED"):
            self.require("BY")
            table.set("partitions", self.in_parentheses(self.name))
        table.set("options", self._options())
        if self.take("LIKE"):
            table.set("like", self._like())
        elif self.take("AS"):
            table.set("expression", self.query())
        elif table.args.get("names"):
            self.expected("AS and a query, as the columns have no types,")
        return table

    def _names_ahead(self) -> bool:
        """Return whether names come next in parentheses, without types."""
        following = self._tokens[self._index + 2 : self._index + 3]
        return self._curr.token_type == TokenType.L_PAREN and any(
            token.token_type in (TokenType.COMMA, TokenType.R_PAREN) for token in following
        )

    def _table_element(self, table: exp.Expr) -> None:
        """Take a column, a watermark or a key of CREATE TABLE or ALTER TABLE."""
        first = self._curr
        if self.ahead("WATERMARK", "FOR"):
            self._advance(2)
            column = self._field_path()
            self.require("AS")
            expression, text = self._with_quoted_text()
            watermark = tree.WatermarkDefinition(this=column, expression=expression, text=text)
            if table.args.get("watermark") is not None:
                tree.refuse(self.sql, column, "a second watermark of one table")
            table.set("watermark", tree.at(watermark, first))
        elif self.ahead("CONSTRAINT") or self.ahead("PRIMARY", "KEY"):
            constraint = self.name() if self.take("CONSTRAINT") else None
            self.require("PRIMARY", "KEY")
            keys = self.in_parentheses(self.name)
            self._not_enforced()
            key = tree.PrimaryKeyDefinition(this=constraint, expressions=keys)
            if table.args.get("primary_key") is not None:
                tree.refuse(self.sql, keys[0], "a second primary key of one table")
            table.set("primary_key", tree.at(key, first))
        else:
            table.append("columns", self._column())

    def _not_enforced(self) -> None:
        if not self.take("NOT", "ENFORCED"):
            self.expected("'NOT ENFORCED' (keys are not checked)")

    def _field_path(self) -> exp.Expr:
        column: exp.Expr = exp.Column(this=self.name("the name of a column"))
        while self.sign(TokenType.DOT):
            column = exp.Dot(this=column, expression=self.name())
        return column

    def _column(self) -> tree.ColumnDefinition:
        first = self._curr
        column = tree.ColumnDefinition(this=self.name("the name of a column"))
        if self.take("AS"):
            computed, text = self._with_quoted_text()
            column.set("computed", computed)
            column.set("text", text)
        else:
            column.set("type", self.type_name())
            if self.take("METADATA"):
                column.set("metadata", True)
                if self.take("FROM"):
                    column.set("metadata_key", self.string())
                column.set("virtual", self.take("VIRTUAL") or None)
            elif self.take("PRIMARY"):
                self.require("KEY")
                self._not_enforced()
                column.set("primary_key", True)
        column.set("comment", self._comment())
        return tree.at(column, first)

    def _placed_element(self, table: exp.Expr) -> None:
        """Take what ALTER TABLE adds or changes, a column with its position."""
        count = len(table.args["columns"])
        self._table_element(table)
        if len(table.args["columns"]) == count:
            return
        column = table.args["columns"][-1]
        if self.take("FIRST"):
            column.set("first", True)
        elif self.take("AFTER"):
            column.set("after", self.name("the name of a column"))

    def _like(self) -> tree.LikeClause:
        name = self.path("the name of a table")
        options: list[exp.Expr] = []
        if self.sign(TokenType.L_PAREN):
            while not self.sign(TokenType.R_PAREN):
                strategy = self.one_of(
                    ("INCLUDING", "EXCLUDING", "OVERWRITING"),
                    "INCLUDING, EXCLUDING, OVERWRITING or ')'",
                )
                what = self.one_of(_LIKE_OPTIONS)
                options.append(exp.Tuple(expressions=[exp.var(what), exp.var(strategy)]))
        return tree.LikeClause(this=name, expressions=options)

    def _create_view(self, temporary: bool) -> tree.CreateView:
        exists = self._if_not_exists()
        name = self.path("the name of a view")
        columns = None
        if self._curr.token_type == TokenType.L_PAREN:
            columns = self.in_parentheses(self.name)
        comment = self._comment()
        self.require("AS")
        query, text = self._with_text(self.query)
        return tree.CreateView(
            this=name,
            temporary=temporary or None,
            exists=exists or None,
            columns=columns,
            comment=comment,
            expression=query,
            text=text,
        )

    def _with_quoted_text(self) -> tuple[exp.Expr, str]:
        """Take an expression, with its text as Flink keeps it: names of columns in backquotes."""
        first = self._curr.start
        expression, text = self._with_text(self.condition)
        names = [
            each
            for each in expression.find_all(exp.Identifier)
            if isinstance(each.parent, (exp.Column, exp.Dot))
        ]
        for each in sorted(names, key=lambda name: -name.meta["start"]):
            start, end = each.meta["start"] - first, each.meta["end"] - first
            if text[start] != "`":
                text = f"{text[:start]}{quoted(each.name)}{text[end:]}"
        return expression, text

    def _with_text(self, parse: Callable[[], exp.Expr]) -> tuple[exp.Expr, str]:
        first = self._curr
        result = parse()
        return result, self.sql[first.start : self._prev.end + 1]

    def _create_function(self, kind: str | None) -> tree.CreateFunction:
        exists = self._if_not_exists()
        return tree.CreateFunction(**self._function(kind, exists))

    def _function(self, kind: str | None, exists: bool) -> dict[str, Any]:
        """Take name and implementation of a function."""
        name = self.path("the name of a function")
        self.require("AS")
        implementation = self.string()
        language = "JAVA"
        if self.take("LANGUAGE"):
            language = self.one_of(("JAVA", "SCALA", "PYTHON"))
        resources: list[exp.Expr] = []
        if self.take("USING"):
            resources = self.listed(self._resource)
        return {
            "this": name,
            "kind": kind,
            "exists": exists or None,
            "implementation": implementation,
            "language": language,
            "resources": resources,
            "options": self._options(),
        }

    def _resource(self) -> exp.Expr:
        self.one_of(("JAR", "FILE", "ARCHIVE"))
        return self.string()

    def _create_database(self) -> tree.CreateDatabase:
        exists = self._if_not_exists()
        return tree.CreateDatabase(
            this=self.path("the name of a database"),
            exists=exists or None,
            comment=self._comment(),
            options=self._options(),
        )

    # DROP and ALTER

    def _drop(self) -> exp.Expr:
        if self.ahead("MODEL") or self.ahead("MATERIALIZED") or self.ahead("CONNECTION"):
            return self._not_supported(f"DROP {self._curr.text.upper()}")
        temporary = self.take("TEMPORARY")
        if temporary and self.ahead("MODEL"):
            return self._not_supported("DROP MODEL")
        system = temporary and self.take("SYSTEM")
        kinds = ["FUNCTION"] if system else ["TABLE", "VIEW", "FUNCTION"]
        kind = self.one_of(kinds if temporary else [*kinds, "DATABASE", "CATALOG"])
        exists = self._if_exists()
        name = self.path(f"the name of a {kind.lower()}")
        cascade = None
        if kind == "DATABASE" and (self.ahead("CASCADE") or self.ahead("RESTRICT")):
            cascade = self.take("CASCADE") or None
            self.take("RESTRICT")
        return tree.Drop(
            this=name,
            kind=kind,
            temporary=temporary or None,
            system=system or None,
            exists=exists or None,
            cascade=cascade,
        )

    def _alter(self) -> exp.Expr:
        kind = self._curr.text.upper()
        if kind in ("MODEL", "MATERIALIZED", "CONNECTION"):
            return self._not_supported(f"ALTER {kind}")
        if kind in ("TEMPORARY", "FUNCTION"):
            return self._alter_function()
        self.one_of(("TABLE", "VIEW", "FUNCTION", "DATABASE", "CATALOG"))
        if kind == "CATALOG":
            return self._alter_catalog()
        exists = self._if_exists() or None
        name = self.path(f"the name of a {kind.lower()}")
        if kind == "DATABASE":
            self.require("SET")
            return tree.AlterDatabase(this=name, options=self._option_list())
        if kind == "TABLE" and not (self.ahead("RENAME", "TO") or self.ahead("SET")):
            altered = self._alter_elements(name, exists)
            if altered is not None:
                return altered
        alter = tree.AlterTable(this=name, kind=kind, exists=exists)
        if self.take("RENAME"):
            self.require("TO")
            alter.set("rename", self.path(f"the new name of the {kind.lower()}"))
        elif kind == "VIEW":
            self.require("AS")
            query, text = self._with_text(self.query)
            alter.set("expression", query)
            alter.set("text", text)
        elif self.take("SET"):
            alter.set("options", self._option_list())
        elif self.take("RESET"):
            alter.set("reset", self._string_list())
        else:
            self.expected("RENAME TO, SET, RESET, ADD, MODIFY or DROP")
        return alter

    def _alter_elements(self, name: exp.Expr, exists: bool | None) -> exp.Expr | None:
        """Take what ALTER TABLE does to columns, keys and partitions; None for anything else."""
        if self.take("RENAME"):
            column = self.name("the name of a column")
            self.require("TO")
            new = self.name("the new name of the column")
            return tree.RenameColumn(this=name, exists=exists, column=column, rename=new)
        if self._curr.text.upper() not in ("ADD", "MODIFY", "DROP"):
            return None
        self._advance()
        kind = self._prev.text.upper()
        if self.ahead("DISTRIBUTION"):
            return self._not_supported(f"ALTER TABLE ... {kind} DISTRIBUTION")
        if kind == "ADD" and (self.ahead("PARTITION") or self.ahead("IF")):
            ignored = self._if_not_exists() or None
            return self._alter_partitions(name, kind, ignored)
        if kind == "DROP" and (self.ahead("PARTITION") or self.ahead("IF")):
            ignored = self._if_exists() or None
            return self._alter_partitions(name, kind, ignored)
        if kind == "DROP":
            return self._drop_columns(name, exists)
        alter = tree.AlterColumns(this=name, kind=kind, exists=exists, columns=[])
        if self._curr.token_type == TokenType.L_PAREN:
            self.in_parentheses(lambda: self._placed_element(alter))
        else:
            self._placed_element(alter)
        return alter

    def _drop_columns(self, name: exp.Expr, exists: bool | None) -> tree.DropColumns:
        for kind in ("WATERMARK", "PRIMARY KEY"):
            if self.take(*kind.split()):
                return tree.DropColumns(this=name, exists=exists, kind=kind)
        if self.take("CONSTRAINT"):
            constraint = self.name("the name of a constraint")
            return tree.DropColumns(
                this=name, exists=exists, kind="CONSTRAINT", expressions=[constraint]
            )
        if self._curr.token_type == TokenType.L_PAREN:
            columns = self.in_parentheses(self.name)
        else:
            columns = [self.name("the name of a column")]
        return tree.DropColumns(this=name, exists=exists, kind="COLUMNS", expressions=columns)

    def _alter_partitions(
        self, name: exp.Expr, kind: str, ignored: bool | None
    ) -> tree.AlterPartitions:
        partitions: list[exp.Expr] = []
        while not partitions or self.ahead("PARTITION") or self.sign(TokenType.COMMA):
            self.require("PARTITION")
            values = self.in_parentheses(self._partition)
            options = self._options() if kind == "ADD" else None
            partitions.append(tree.Partition(expressions=values, options=options))
        return tree.AlterPartitions(this=name, kind=kind, ignored=ignored, expressions=partitions)

    def _partition(self) -> exp.EQ:
        name = self.name("the name of a column")
        if not self.sign(TokenType.EQ):
            self.expected("'='")
        return exp.EQ(this=exp.Column(this=name), expression=self.condition())

    def _alter_function(self) -> tree.AlterFunction:
        temporary = self.take("TEMPORARY")
        system = temporary and self.take("SYSTEM")
        self.require("FUNCTION")
        kind = "TEMPORARY SYSTEM" if system else "TEMPORARY" if temporary else None
        exists = self._if_exists()
        return tree.AlterFunction(**self._function(kind, exists))

    def _alter_catalog(self) -> tree.AlterCatalog:
        alter = tree.AlterCatalog(this=self.name("the name of a catalog"))
        if self.take("SET"):
            alter.set("options", self._option_list())
        elif self.take("RESET"):
            alter.set("reset", self._string_list())
        elif self.take("COMMENT"):
            alter.set("comment", self.string())
        else:
            self.expected("SET, RESET or COMMENT")
        return alter

    def _string_list(self) -> list[exp.Expr]:
        if (
            self._curr.token_type == TokenType.L_PAREN
            and self._next.token_type == TokenType.R_PAREN
        ):
            self._advance(2)
            return []
        return [*self.in_parentheses(self.string)]
