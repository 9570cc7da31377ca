"""Which member makes which batch, and how many members there should be: for loaders whose batches come from several processes.

Batches are numbered through all epochs. What is decided here depends on nothing but what it is told: no clock, no network."""

from __future__ import annotations

import heapq
from typing import Any, Hashable


class Schedule:
    """Gives numbers to members, the lowest first; those of a member that is lost are given again."""

    def __init__(self, first: int) -> None:
        self._delivered = first
        self._fresh = first
        self._again: list[int] = []
        self._under_way: dict[Hashable, set[int]] = {}
        self._finished: dict[int, Any] = {}

    @property
    def next(self) -> int:
        """The number that is delivered next."""
        return self._delivered

    def join(self, member: Hashable) -> None:
        self._under_way[member] = set()

    def lose(self, member: Hashable) -> None:
        for number in self._under_way.pop(member, ()):
            self._ask_again(number)

    def under_way(self, member: Hashable) -> int:
        return len(self._under_way[member])

    def makers(self, number: int) -> list[Hashable]:
        return [member for member, numbers in self._under_way.items() if number in numbers]

    def give(self, member: Hashable, ahead: int) -> int | None:
        """The next number for this member to make; None while there is none. So many numbers, from the one that is
        delivered next on, are given or finished at once."""
        held_back: list[int] = []
        number = None
        while self._again and number is None:
            one = heapq.heappop(self._again)
            if not self._wanted(one):
                continue
            if one in self._under_way[member]:
                held_back.append(one)
            else:
                number = one
        for one in held_back:
            heapq.heappush(self._again, one)
        if number is None:
            if self._fresh >= self._delivered + ahead:
                return None
            number = self._fresh
            self._fresh += 1
        self._under_way[member].add(number)
        return number

    def repeat(self, number: int) -> None:
        """Another member is to make it, too: the one that has it is late."""
        if number < self._fresh and number not in self._again:
            heapq.heappush(self._again, number)

    def finish(self, member: Hashable, number: int, result: Any) -> None:
        self._under_way.get(member, set()).discard(number)
        if self._wanted(number):
            self._finished[number] = result

    def has_next(self) -> bool:
        return self._delivered in self._finished

    def deliver(self) -> Any:
        result = self._finished.pop(self._delivered)
        self._delivered += 1
        return result

    def _wanted(self, number: int) -> bool:
        return number >= self._delivered and number not in self._finished

    def _ask_again(self, number: int) -> None:
        if self._wanted(number) and not self.makers(number):
            self.repeat(number)


class Crew:
    """How many members there should be besides those that are there anyway, from how long the consumer waits."""

    TOO_LONG, NEVER = 0.05, 0.005  # of the time is waited: more are needed; fewer may do
    PATIENCE = 4                   # periods without any wait, before one goes

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most
        self.target = least
        self._calm = 0
        self._patience = self.PATIENCE
        self._regrets_until = 0  # periods in which a wait means that the last one should have stayed

    def period(self, waited: float, elapsed: float, others: float = 0) -> int:
        """The number from now on, after a time of which a part was waited. `others` are worth so many members."""
        share = waited / elapsed if elapsed > 0 else 0.0
        self._regrets_until = max(0, self._regrets_until - 1)
        if share > self.TOO_LONG:
            if self._regrets_until > 0:
                self._patience *= 2
                self._regrets_until = 0
            self._calm = 0
            working = max(1.0, self.target + others)
            more = working * share / max(1 - share, 0.1)
            self.target = min(self.most, self.target + max(1, min(round(more), round(working))))
        elif share < self.NEVER:
            self._calm += 1
            if self._calm >= self._patience and self.target > self.least:
                self.target -= 1
                self._calm = 0
                self._regrets_until = self._patience
        else:
            self._calm = 0
        return self.target
