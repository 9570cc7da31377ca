"""Which member makes which batch: decided without any clock or network, so that every course of things can be played."""

import random

import pytest

from stoker._schedule import Crew, Schedule


def test_every_number_is_delivered_once_and_in_order_whatever_is_lost():
    for seed in range(200):
        draw = random.Random(seed)
        schedule, at_work, delivered, names = Schedule(first=7), {}, [], iter(range(10_000))

        def join():
            member = next(names)
            schedule.join(member)
            at_work[member] = []

        for _ in range(3):
            join()
        while len(delivered) < 60:
            action = draw.random()
            if action < 0.1 and len(at_work) > 1:
                lost = draw.choice(list(at_work))
                schedule.lose(lost)
                del at_work[lost]
            elif action < 0.2 and len(at_work) < 5:
                join()
            elif action < 0.3:
                schedule.repeat(schedule.next)
            elif action < 0.6:
                member = draw.choice(list(at_work))
                number = schedule.give(member, ahead=9)
                if number is not None:
                    assert number < schedule.next + 9
                    assert number not in at_work[member]
                    at_work[member].append(number)
            else:
                member = draw.choice(list(at_work))
                if at_work[member]:
                    number = at_work[member].pop(draw.randrange(len(at_work[member])))
                    schedule.finish(member, number, f"batch {number}")
                assert schedule.under_way(member) == len(at_work[member])
            while schedule.has_next():
                expected = schedule.next
                assert schedule.deliver() == f"batch {expected}"
                delivered.append(expected)
        assert delivered == list(range(7, 7 + len(delivered))), seed


def test_what_a_lost_member_had_is_given_first():
    schedule = Schedule(0)
    for member in "ab":
        schedule.join(member)
    assert [schedule.give(member, ahead=4) for member in "abab"] == [0, 1, 2, 3]
    assert schedule.give("a", ahead=4) is None
    schedule.finish("a", 2, "two")
    schedule.lose("a")
    assert schedule.give("b", ahead=4) == 0
    assert schedule.give("b", ahead=4) is None, "2 is finished"


def test_a_late_number_goes_to_another_member_and_counts_once():
    schedule = Schedule(0)
    for member in "ab":
        schedule.join(member)
    assert schedule.give("a", ahead=1) == 0
    schedule.repeat(0)
    assert schedule.give("a", ahead=1) is None, "it has it already"
    assert schedule.give("b", ahead=1) == 0
    assert schedule.makers(0) == ["a", "b"]
    schedule.finish("b", 0, "of b")
    assert schedule.deliver() == "of b"
    schedule.finish("a", 0, "of a")
    assert not schedule.has_next() and schedule.next == 1
    assert schedule.under_way("a") == schedule.under_way("b") == 0


def rate_of(members, others, step):
    """The share that a consumer waits whose steps take so many times as long as a member needs for a batch."""
    per_batch = 1 / (members + others) if members + others else float("inf")
    return max(0.0, 1 - step / per_batch)


@pytest.mark.parametrize("step, needed", [(1.0, 1), (0.5, 2), (0.24, 4), (0.1, 10)])
def test_a_crew_grows_to_what_is_needed_and_stays(step, needed):
    crew, history = Crew(0, 64), []
    for _ in range(100):
        history.append(crew.period(rate_of(crew.target, 0, step), 1.0))
    assert history[6] >= needed, "within few periods"
    late = history[-40:]
    assert needed <= max(late) <= needed + 1
    assert sum(count < needed for count in late) <= 6, "what was tried in vain is tried less and less"


def test_a_crew_stays_between_its_bounds():
    crew = Crew(2, 5)
    assert [crew.period(0.9, 1.0) for _ in range(5)][-1] == 5
    assert [crew.period(0.0, 1.0) for _ in range(200)][-1] == 2
    assert Crew(3, 3).period(0.9, 1.0) == 3
