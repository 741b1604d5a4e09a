"""Queries as Calcite, the parser of Flink, reads them."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from pyflow.table.sql import tree
from pyflow.table.sql.expression_grammar import ExpressionGrammar
from pyflow.table.sql.qualify import order_qualified, qualified

_SET_OPERATIONS: dict[str, type[exp.SetOperation]] = {
    "UNION": exp.Union,
    "EXCEPT": exp.Except,
    "MINUS": exp.Except,
}
_SIDES = ("LEFT", "RIGHT", "FULL")


class QueryGrammar(ExpressionGrammar):
    """SELECT and what stands around and inside it."""

    def query(self) -> exp.Expr:
        """Take a query: WITH, SELECT or set operations, ORDER BY, LIMIT."""
        with_ = self._with()
        query = self._set_operations()
        if (
            self.ahead("ORDER")
            or self.ahead("LIMIT")
            or self.ahead("OFFSET")
            or self.ahead("FETCH")
        ):
            if isinstance(query, (exp.Values, tree.NotSupported)):
                query = exp.Subquery(this=query)
            self._modifiers(query)
        if with_ is not None:
            if "with_" not in query.arg_types:
                query = exp.Subquery(this=query)
            query.set("with_", with_)
        return query

    def _with(self) -> exp.With | None:
        first = self._curr
        if not self.take("WITH"):
            return None
        recursive = self.take("RECURSIVE")
        return tree.at(
            exp.With(expressions=self.listed(self._common_table), recursive=recursive or None),
            first,
        )

    def _common_table(self) -> exp.CTE:
        alias = self._alias_names(self.name("the name of a common table expression"))
        self.require("AS")
        self.opening()
        query = self.query()
        self.closing()
        return exp.CTE(this=query, alias=alias)

    def _set_operations(self) -> exp.Expr:
        left = self._intersections()
        while True:
            kind = next((k for word, k in _SET_OPERATIONS.items() if self.take(word)), None)
            if kind is None:
                return left
            operator = self._prev
            distinct = self._distinct()
            right = self._intersections()
            left = tree.at(kind(this=left, expression=right, distinct=distinct), operator)

    def _intersections(self) -> exp.Expr:
        left = self._term()
        while self.take("INTERSECT"):
            operator = self._prev
            distinct = self._distinct()
            right = self._term()
            left = tree.at(exp.Intersect(this=left, expression=right, distinct=distinct), operator)
        return left

    def _distinct(self) -> bool:
        if self.take("ALL"):
            return False
        self.take("DISTINCT")
        return True

    def _term(self) -> exp.Expr:
        if self._curr.token_type == TokenType.L_PAREN:
            opening = self.opening()
            query = self.query()
            self.closing()
            return tree.at(exp.Subquery(this=query), opening)
        if self.ahead("SELECT"):
            return self.select()
        if self.ahead("VALUES"):
            return self.values()
        if self.ahead("TABLE"):
            self._advance()
            table = self.path("the name of a table")
            return exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))
        return self.expected("SELECT, VALUES, WITH or '('")

    def values(self) -> exp.Values:
        """Take VALUES with its rows."""
        first = self._curr
        self.require("VALUES")
        return tree.at(exp.Values(expressions=self.listed(self._value_row)), first)

    def _value_row(self) -> exp.Tuple:
        first = self._curr
        self.take("ROW")
        if self._curr.token_type == TokenType.L_PAREN:
            return tree.at(exp.Tuple(expressions=self.in_parentheses(self.condition)), first)
        return tree.at(exp.Tuple(expressions=[self.condition()]), first)

    def _modifiers(self, query: exp.Expr) -> None:
        order = self.order()
        if order is not None:
            order_qualified(query, order)
            query.set("order", order)
        while True:
            first = self._curr
            if self.take("LIMIT"):
                if not self.take("ALL"):
                    self._once(query, "limit", tree.at(exp.Limit(expression=self.number()), first))
            elif self.take("OFFSET"):
                offset = tree.at(exp.Offset(expression=self.number()), first)
                if self.ahead("ROW") or self.ahead("ROWS"):
                    self._advance()
                self._once(query, "offset", offset)
            elif self.take("FETCH"):
                self.one_of(("FIRST", "NEXT"))
                count = self.number()
                self.one_of(("ROW", "ROWS"))
                self.require("ONLY")
                self._once(query, "limit", tree.at(exp.Limit(expression=count), first))
            else:
                return

    def _once(self, query: exp.Expr, key: str, clause: exp.Expr) -> None:
        if query.args.get(key) is not None:
            tree.refuse(self.sql, clause, f"a second {key.upper()} of one query")
        query.set(key, clause)

    # SELECT

    def select(self) -> exp.Select:
        """Take SELECT up to WINDOW."""
        first = self._curr
        self.require("SELECT")
        hint = self.hint()
        if self.ahead("STREAM") and self._next.token_type in (TokenType.VAR, TokenType.STAR):
            self._advance()
        distinct = self.take("DISTINCT")
        if not distinct:
            self.take("ALL")
        select = exp.Select(expressions=self.listed(self._item), hint=hint)
        if distinct:
            select.set("distinct", exp.Distinct())
        clause = self._curr
        if self.take("FROM"):
            select.set("from_", tree.at(exp.From(this=self._from()), clause))
        for key, words, parse in (
            ("where", ("WHERE",), lambda: exp.Where(this=self.condition())),
            ("group", ("GROUP", "BY"), self._group),
            ("having", ("HAVING",), lambda: exp.Having(this=self.condition())),
            ("windows", ("WINDOW",), lambda: self.listed(self._named_window)),
        ):
            clause = self._curr
            if self.take(words[0]):
                self.require(*words[1:])
                value = parse()
                select.set(key, value if isinstance(value, list) else tree.at(value, clause))
        condition = self.condition() if self.take("QUALIFY") else None
        tree.at(select, first)
        return select if condition is None else qualified(select, condition, self.sql)

    def _item(self) -> exp.Expr:
        token = self._curr
        if self.sign(TokenType.STAR):
            return tree.at(exp.Star(), token)
        item = self.condition()
        if self.take("AS"):
            return exp.Alias(this=item, alias=self.name("an alias"))
        if self.name_ahead():
            return exp.Alias(this=item, alias=self.name())
        return item

    def _group(self) -> exp.Group:
        if not self.take("ALL"):
            self.take("DISTINCT")
        return exp.Group(expressions=self.listed(self._grouping))

    def _grouping(self) -> exp.Expr:
        first = self._curr
        if self.take("GROUPING", "SETS"):
            return tree.at(exp.GroupingSets(expressions=self.in_parentheses(self._grouping)), first)
        for word, kind in (("ROLLUP", exp.Rollup), ("CUBE", exp.Cube)):
            if self.take(word):
                return tree.at(kind(expressions=self.in_parentheses(self._grouping)), first)
        if first.token_type == TokenType.L_PAREN and self._next.token_type == TokenType.R_PAREN:
            self._advance(2)
            return tree.at(exp.Tuple(expressions=[]), first)
        return self.condition()

    def _named_window(self) -> exp.Window:
        name = self.name("the name of a window")
        self.require("AS")
        window = self.window_specification()
        window.set("this", name)
        return window

    def hint(self) -> exp.Hint | None:
        """Take a hint if one comes next: /*+ NAME(...), ... */."""
        first = self._curr
        if not self.sign(TokenType.HINT):
            return None
        hints = self.listed(self._hint)
        if not self.sign(TokenType.BLOCK_END):
            self.expected("',' or '*/'")
        return tree.at(exp.Hint(expressions=hints), first)

    def _hint(self) -> exp.Expr:
        name = self.name("the name of a hint")
        arguments: list[exp.Expr] = []
        if self._curr.token_type == TokenType.L_PAREN:
            arguments = self.in_parentheses(self._hint_argument)
        return exp.Anonymous(this=name.name.upper(), expressions=arguments)

    def _hint_argument(self) -> exp.Expr:
        if self._next.token_type == TokenType.EQ:
            return self.option()
        return self.condition()

    def option(self) -> tree.Option:
        """Take 'key' = 'value'."""
        key = self.string("an option's name in single quotes")
        if not self.sign(TokenType.EQ):
            self.expected("'='")
        return tree.Option(this=key, expression=self.string("an option's value in single quotes"))

    # FROM

    def _from(self) -> exp.Expr:
        # A list of tables is a cross join that binds looser than JOIN.
        left = self._joined()
        while self.sign(TokenType.COMMA):
            comma = self._prev
            right = self._joined()
            left = self._join(left, right, comma, kind="CROSS")
        return left

    def _join(self, left: exp.Expr, right: exp.Expr, token: Token, **args: object) -> exp.Expr:
        join = tree.at(exp.Join(this=right, **args), token)
        if isinstance(left, tree.JoinTree):
            left.append("joins", join)
            return left
        return tree.JoinTree(this=left, joins=[join])

    def _joined(self) -> exp.Expr:
        left = self._table()
        while True:
            first = self._curr
            natural = self.take("NATURAL")
            side = next((word for word in _SIDES if self.take(word)), None)
            if side is not None:
                self.take("OUTER")
                kind = None
            else:
                kind = next((w for w in ("INNER", "CROSS") if self.take(w)), None)
            if not self.take("JOIN"):
                if natural or side or kind:
                    self.expected("'JOIN'")
                return left
            right = self._table()
            args: dict[str, object] = {"side": side, "kind": kind}
            if natural:
                args["method"] = "NATURAL"
            elif kind != "CROSS":
                if self.take("USING"):
                    args["using"] = self.in_parentheses(self.name)
                elif self.take("ON"):
                    args["on"] = self.condition()
                else:
                    self.expected("ON or USING")
            left = self._join(left, right, first, **args)

    def _table(self) -> exp.Expr:
        first = self._curr
        table = self._bare_table()
        clause = self._curr
        if self.take("FOR"):
            self.require("SYSTEM_TIME", "AS", "OF")
            time = tree.at(tree.SystemTime(this=self.operation(40)), clause)
            table.set("version", time)
        for word in ("MATCH_RECOGNIZE", "PIVOT", "UNPIVOT"):
            if self.ahead(word) and self._next.token_type == TokenType.L_PAREN:
                token = self._curr
                self._advance()
                self.between_parentheses()
                table = tree.at(tree.NotSupported(this=word), token)
        alias = self._alias()
        if alias is not None:
            table.set("alias", alias)
        if self.ahead("TABLESAMPLE"):
            token = self._curr
            self._advance(2)
            self.between_parentheses()
            table = tree.at(tree.NotSupported(this="TABLESAMPLE"), token)
        return table if isinstance(table, tree.NotSupported) else tree.at(table, first)

    def _alias(self) -> exp.TableAlias | None:
        if self.take("AS"):
            return self._alias_names(self.name("an alias"))
        return self._alias_names(self.name()) if self.name_ahead() else None

    def _alias_names(self, name: exp.Identifier) -> exp.TableAlias:
        columns = None
        if self._curr.token_type == TokenType.L_PAREN:
            columns = self.in_parentheses(self.name)
        return exp.TableAlias(this=name, columns=columns)

    def _bare_table(self) -> exp.Expr:
        first = self._curr
        if self.take("LATERAL"):
            if self._curr.token_type == TokenType.L_PAREN:
                return self._derived(lateral=True)
            self.require("TABLE")
            return exp.Lateral(this=self._function_in_parentheses())
        if self.take("TABLE"):
            return exp.TableFromRows(this=self._function_in_parentheses())
        if self.take("UNNEST"):
            values = self.in_parentheses(self.condition)
            ordinality = self.take("WITH", "ORDINALITY")
            return exp.Unnest(expressions=values, offset=ordinality or None)
        if first.token_type == TokenType.L_PAREN:
            return self._derived(lateral=False)
        if self.ahead("VALUES"):
            return exp.Subquery(this=self.values())
        if not self.name_ahead():
            self.expected("a table, TABLE(...), LATERAL, UNNEST or '('")
        start = self._index
        table = self.path("the name of a table")
        if self._curr.token_type == TokenType.L_PAREN:
            self._retreat(start)
            return exp.TableFromRows(this=self._table_function())
        hints = self.hint()
        if hints is not None:
            table.set("hints", [hints])
        return table

    def _derived(self, lateral: bool) -> exp.Expr:
        start = self._index
        opening = self.opening()
        index = self._index
        while self._tokens[index].token_type == TokenType.L_PAREN and index + 1 < len(self._tokens):
            index += 1
        if self._tokens[index].text.upper() in ("SELECT", "WITH", "VALUES", "TABLE"):
            query = self.query()
            if self.sign(TokenType.R_PAREN):
                if isinstance(query, exp.Subquery) and not query.args.get("alias"):
                    nested = query
                else:
                    nested = tree.at(exp.Subquery(this=query), opening)
                return exp.Lateral(this=nested) if lateral else nested
            if index == self._index:
                self.expected("')'")
            self._retreat(start)
            self.opening()
        tables = self._from()
        self.closing()
        return tree.at(exp.Subquery(this=tables), opening)

    def _function_in_parentheses(self) -> exp.Expr:
        self.opening()
        function = self._table_function()
        self.closing()
        return function

    def _table_function(self) -> exp.Expr:
        first = self._curr
        if self.ahead("TABLE"):
            self.expected("the name of a table function")
        parts = [self.name("the name of a table function")]
        while self.sign(TokenType.DOT):
            parts.append(self.name())
        return self.call(parts, first)

    def argument(self) -> exp.Expr:
        """Take an argument, which of a table function may be a table or a descriptor."""
        first = self._curr
        if self.ahead("TABLE"):
            self._advance()
            if self._curr.token_type == TokenType.L_PAREN:
                self.opening()
                table: exp.Expr = tree.at(exp.Subquery(this=self.query()), first)
                self.closing()
            else:
                table = self.path("the name of a table")
            return self._table_argument(table, first)
        if self.ahead("DESCRIPTOR") and self._next.token_type == TokenType.L_PAREN:
            self._advance()
            return tree.at(tree.Descriptor(expressions=self.in_parentheses(self.name)), first)
        if first.token_type == TokenType.L_PAREN and self.ahead("(", "SELECT"):
            start = self._index
            value = self.condition()
            if isinstance(value, exp.Subquery) and (self.ahead("PARTITION") or self.ahead("ORDER")):
                self._retreat(start)
                self.opening()
                table = tree.at(exp.Subquery(this=self.query()), first)
                self.closing()
                return self._table_argument(table, first)
            return value
        return super().argument()

    def _table_argument(self, table: exp.Expr, first: Token) -> exp.Expr:
        partitions = None
        if self.take("PARTITION"):
            self.require("BY")
            if self._curr.token_type == TokenType.L_PAREN:
                partitions = self.in_parentheses(self.condition)
            else:
                # Further arguments follow a comma, too: only names in parentheses are several.
                partitions = [self.condition()]
        order = self.order()
        return tree.at(tree.TableArgument(this=table, partitions=partitions, order=order), first)
