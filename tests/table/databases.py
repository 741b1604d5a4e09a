"""Tables of databases, as their server and as a table environment see them."""

from __future__ import annotations

import pymysql

from scripts import mariadb_server

LOGIN = {"username": mariadb_server.USER, "password": mariadb_server.PASSWORD}


def run(server, *statements):
    """Run statements, and return the rows of the last one."""
    with pymysql.connect(
        host=mariadb_server.HOST,
        port=server.port,
        user=mariadb_server.USER,
        password=mariadb_server.PASSWORD,
        database=mariadb_server.DATABASE,
        autocommit=True,
    ) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())


def created(t_env, name, columns, url, table, **options):
    """Describe a table of a database."""
    given = {"connector": "jdbc", "url": url, "table-name": table, **options}
    pairs = ", ".join(f"'{key.replace('_', '-')}' = '{value}'" for key, value in given.items())
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({pairs})")
