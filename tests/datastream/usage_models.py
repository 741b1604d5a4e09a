"""What the programs of `usage` compute, by plain Python over the same elements.

A program sees its elements in batches. The watermark moves behind each of them; bounded elements
are one batch, at whose end time ends.
"""

from __future__ import annotations

from collections import Counter, defaultdict

START, END = -(1 << 63), (1 << 63) - 1


def played(batches, time, delay, is_bounded):
    """Yields each batch with the watermarks before and behind it."""
    if is_bounded:
        yield [element for batch in batches for element in batch], START, END
        return
    before = START
    for batch in batches:
        behind = max([before, *(time(element) - delay - 1 for element in batch)])
        yield batch, before, behind
        before = behind


def counts_of_pages(views, size, is_over):
    """The views and viewers of each page and window that is over."""
    found = defaultdict(list)
    for view in views:
        found[view["page"], view["at"] // size * size].append(view["user"])
    return [
        {"page": page, "start": start, "views": len(users), "users": len({*users})}
        for (page, start), users in found.items()
        if is_over(start + size)
    ]


def enriched_orders(orders, products, wait, delay, is_bounded):
    """In a batch products come first, then timers are due, then orders come."""
    known, waiting, timers, found = {}, defaultdict(list), set(), []

    def enriched(order):
        product = known.get(order["product"])
        name = product and product["name"]
        return {**order, "name": name, "total": product and order["count"] * product["price"]}

    def fire(watermark):
        for at, name in sorted(timers):
            if at <= watermark:
                timers.remove((at, name))
                found.extend(map(enriched, waiting.pop(name, ())))

    steps = [
        list(played(each, lambda e: e["at"], delay, is_bounded)) for each in (orders, products)
    ]
    for (new_orders, before, _), (new_products, before_products, _) in zip(*steps):
        for product in new_products:
            if product["price"] is None:
                known.pop(product["product"], None)
            else:
                known[product["product"]] = product
        fire(min(before, before_products))
        for order in new_orders:
            waiting[order["product"]].append(order)
            if order["product"] in known:
                found.extend(map(enriched, waiting.pop(order["product"])))
            else:
                timers.add((order["at"] + wait, order["product"]))
    fire(min(step[-1][2] for step in steps))
    return found


def card_alerts(batches, small, large, minute, is_bounded):
    flags, found = {}, []
    for payments, before, _ in played(batches, lambda each: each.at, 0, is_bounded):
        flags = {card: until for card, until in flags.items() if until > before}
        for payment in payments:
            if flags.pop(payment.card, None) is not None and payment.amount > large:
                found.append(payment)
            if payment.amount < small:
                flags[payment.card] = payment.at + minute
    return found


def visits(batches, gap, delay, lateness, is_bounded):
    """The sessions as often as they are evaluated, and the late views."""
    sessions, found, late = defaultdict(list), [], []

    def evaluated(user, views):
        views = sorted(views, key=lambda view: view["at"])
        found.append(
            {
                "user": user,
                "from": views[0]["at"],
                "to": views[-1]["at"] + gap,
                "pages": [view["page"] for view in views],
            }
        )

    for views, before, behind in played(batches, lambda view: view["at"], delay, is_bounded):
        for view in views:
            user, session = view["user"], [view]
            for other in [each for each in sessions[user] if _touch(each, view, gap)]:
                session = other + session
            end = max(each["at"] for each in session) + gap - 1
            if end + lateness <= before:
                late.append(view)
                continue
            sessions[user] = [each for each in sessions[user] if not _touch(each, view, gap)] + [
                session
            ]
            if end <= before:
                evaluated(user, session)
        for user, all_of_user in sessions.items():
            for session in list(all_of_user):
                end = max(each["at"] for each in session) + gap - 1
                if before < end <= behind:
                    evaluated(user, session)
                if end + lateness <= behind:
                    all_of_user.remove(session)
    return found, late


def _touch(session, view, gap):
    times = [each["at"] for each in session]
    return min(times) <= view["at"] + gap and view["at"] <= max(times) + gap


def failed_logins(batches, minute, delay, is_bounded):
    """The sequences, and the events that were late."""
    on_time, late, watermark = defaultdict(list), [], START
    for events, before, behind in played(batches, lambda event: event["at"], delay, is_bounded):
        watermark = behind
        for event in events:
            (late if event["at"] <= before else on_time[event["user"]]).append(event)
    found = []
    for user, events in on_time.items():
        failures = []
        for event in sorted(events, key=lambda each: each["at"]):
            if event["at"] > watermark:
                break
            failures = [at for at in failures if at > event["at"] - minute]
            if not event["ok"]:
                failures.append(event["at"])
                continue
            if len(failures) >= 3:
                found.append((user, failures, event["at"]))
            failures = []
    return found, late


def top_words(batches, size, delay, count, is_bounded):
    windows, watermark = defaultdict(Counter), START
    for lines, before, behind in played(batches, lambda line: line[0], delay, is_bounded):
        watermark = behind
        for at, text in lines:
            end = at // size * size + size
            if end - 1 > before:
                windows[end].update(text.lower().split())
    return [
        (end, sorted(words.items(), key=lambda each: (-each[1], each[0]))[:count])
        for end, words in windows.items()
        if end + 1 <= watermark
    ]


def paid_orders(orders, payments, minute, delay, is_bounded):
    """The pairs, the orders and the payments without partners."""
    waiting, pairs, alone = ({}, {}), [], ([], [])
    steps = [list(played(each, lambda e: e[2], delay, is_bounded)) for each in (orders, payments)]
    for (new_orders, _, behind), (new_payments, _, behind_payments) in zip(*steps):
        for side, elements in enumerate((new_orders, new_payments)):
            for element in elements:
                partner = waiting[1 - side].pop(element[0], None)
                if partner is None:
                    waiting[side][element[0]] = element
                else:
                    order, payment = (element, partner) if side == 0 else (partner, element)
                    pairs.append((element[0], order[1], payment[1]))
        for side, elements in enumerate(waiting):
            for number, element in list(elements.items()):
                if element[2] + minute <= min(behind, behind_payments):
                    alone[side].append(elements.pop(number))
    return pairs, *alone


def banks(transfers):
    """The number of accounts with money, and all their money, of each bank."""
    balances = Counter()
    for account, amount in transfers:
        balances[account] += amount
    found = defaultdict(list)
    for account, balance in balances.items():
        if balance:
            found[account[:2]].append(balance)
    return sorted((bank, len(each), sum(each)) for bank, each in found.items())
