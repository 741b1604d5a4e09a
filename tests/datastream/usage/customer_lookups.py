"""Orders with their customers, whom a service is asked for by asynchronous calls."""

import asyncio
import json

from pyflow.common import Time
from pyflow.datastream import AsyncDataStream, AsyncFunction
from pyflow.datastream.async_retry_predicates import has_exception_predicate
from pyflow.datastream.functions import AsyncRetryStrategy


class Customers(AsyncFunction):
    def __init__(self, host, port):
        self.host = host
        self.port = port

    async def async_invoke(self, value):
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(f"GET /customers/{value['customer']} HTTP/1.0\r\n\r\n".encode())
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        status = head.split()[1]
        if status == b"404":
            return []
        if status != b"200":
            raise OSError(f"the service answers with {status.decode()}")
        return [{**value, "name": json.loads(body)["name"]}]

    def timeout(self, value):
        return [{**value, "name": None}]


def build(orders, host, port):
    retry = AsyncRetryStrategy.fixed_delay(3, 10, None, has_exception_predicate)
    return AsyncDataStream.unordered_wait_with_retry(
        orders, Customers(host, port), Time.seconds(3), retry, capacity=20
    )
