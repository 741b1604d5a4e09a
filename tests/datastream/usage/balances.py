"""Balances of accounts as a stream of changes, which becomes a table that a database has."""

from pyflow.common import Row, RowKind, Types
from pyflow.datastream import KeyedProcessFunction
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.table import Schema, StreamTableEnvironment

BALANCE = Types.ROW_NAMED(["account", "balance"], [Types.STRING(), Types.LONG()])


class Balance(KeyedProcessFunction):
    """An account without money is deleted."""

    def open(self, runtime_context):
        self.balance = runtime_context.get_state(ValueStateDescriptor("balance", Types.LONG()))

    def process_element(self, value, ctx):
        account, before = ctx.get_current_key(), self.balance.value()
        after = (before or 0) + value[1]
        if before is not None:
            kind = RowKind.UPDATE_BEFORE if after else RowKind.DELETE
            yield Row.of_kind(kind, account, before)
        if after:
            kind = RowKind.INSERT if before is None else RowKind.UPDATE_AFTER
            yield Row.of_kind(kind, account, after)
            self.balance.update(after)
        else:
            self.balance.clear()


def build(env, transfers, url):
    changes = transfers.key_by(lambda transfer: transfer[0], key_type=Types.STRING()).process(
        Balance(), output_type=BALANCE
    )
    t_env = StreamTableEnvironment.create(env)
    schema = Schema.new_builder().column("account", "STRING").column("balance", "BIGINT").build()
    t_env.create_temporary_view("balances", t_env.from_changelog_stream(changes, schema))
    t_env.execute_sql(f"""
        CREATE TEMPORARY TABLE banks (
            bank STRING, accounts BIGINT, total BIGINT, PRIMARY KEY (bank) NOT ENFORCED
        ) WITH ('connector' = 'jdbc', 'url' = '{url}', 'table-name' = 'banks')
    """)
    return t_env.execute_sql("""
        INSERT INTO banks
        SELECT SUBSTRING(account FROM 1 FOR 2) AS bank, COUNT(*), SUM(balance)
        FROM balances GROUP BY SUBSTRING(account FROM 1 FOR 2)
    """)
