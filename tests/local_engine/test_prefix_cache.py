"""The prefix tree and its pages: what is found, what is evicted first, and that no page is lost."""

from __future__ import annotations

import random

import pytest

from workbench.local_engine.mem_cache.pools import PageAllocator
from workbench.local_engine.mem_cache.prefix_cache import Lease, PrefixCache
from workbench.local_engine.mem_cache.radix import RadixTree

PAGE = 4


def prompt(*pages: int) -> list[int]:
    """Give a prompt whose pages are known by a number each."""
    return [token for page in pages for token in [page] * PAGE]


def test_a_prefix_is_found_in_whole_pages() -> None:
    tree = RadixTree(PAGE)
    tree.insert(prompt(1, 2, 3), [10, 11, 12])
    match = tree.match([*prompt(1, 2), 3, 3], limit=9)
    assert [node.device_page for node in match.device] == [10, 11]
    assert len(tree.match(prompt(1, 2, 3), limit=1).device) == 1
    assert tree.match(prompt(2), limit=9).device == ()


def test_the_page_used_longest_ago_goes_first_and_never_one_that_others_follow() -> None:
    tree = RadixTree(PAGE)
    tree.insert(prompt(1, 2), [10, 11])
    tree.insert(prompt(1, 3), [10, 12])
    tree.match(prompt(1, 2), limit=9)
    order = []
    while (victim := tree.next_victim()) is not None:
        order.append(tree.evict(victim))
    assert order == [12, 11, 10]
    assert tree.match(prompt(1), limit=9).device == ()


def test_a_page_in_use_stays() -> None:
    tree = RadixTree(PAGE)
    path = tree.insert(prompt(1, 2), [10, 11])
    tree.lock(path)
    assert (tree.next_victim(), tree.evictable_pages) == (None, 0)
    tree.lock(path, by=-1)
    assert tree.evictable_pages == 2


def test_an_evicted_page_that_the_host_has_is_still_known() -> None:
    tree = RadixTree(PAGE)
    first, second = tree.insert(prompt(1, 2), [10, 11])
    tree.mirror(first, 0)
    tree.mirror(second, 1)
    tree.evict(second)
    match = tree.match(prompt(1, 2), limit=9)
    assert (match.device, match.host) == ((first,), (second,))
    tree.evict(first)
    victim = tree.next_host_victim()
    assert victim is second
    assert tree.evict_host(victim) == 1
    assert tree.match(prompt(1, 2), limit=9).host == (first,)


def test_two_requests_that_computed_one_page_keep_one() -> None:
    allocator = PageAllocator(8)
    cache = PrefixCache(PAGE, allocator, None)
    leases = [cache.acquire(prompt(1, 2), reusable=0) for _ in range(2)]
    for lease in leases:
        assert lease is not None
        cache.keep(prompt(1, 2), lease)
    assert allocator.available == 6


def test_hits_are_prompts_that_were_kept() -> None:
    tree = RadixTree(PAGE)
    tree.insert(prompt(1, 2), [10, 11])
    tree.match(prompt(1, 2), limit=9)
    path = tree.insert(prompt(1, 3), [10, 12])
    assert [node.hits for node in path] == [2, 1]


@pytest.mark.parametrize("seed", range(5))
def test_no_page_is_lost_or_given_twice(seed: int) -> None:
    draw = random.Random(seed)
    allocator = PageAllocator(12)
    cache = PrefixCache(PAGE, allocator, None)
    held: list[tuple[list[int], Lease]] = []
    for _ in range(400):
        if held and draw.random() < 0.5:
            tokens, lease = held.pop(draw.randrange(len(held)))
            match draw.randrange(3):
                case 0:
                    cache.keep(tokens, lease)
                case 1:
                    cache.release_tail(tokens, lease)
                    cache.keep(tokens, lease)
                case _:
                    cache.release(lease)
        else:
            tokens = [*prompt(*draw.choices((1, 2), k=draw.randint(0, 4))), 9]
            granted = cache.acquire(tokens, reusable=len(tokens))
            if granted is not None:
                held.append((tokens, granted))
        in_use = [page for _, lease in held for page in lease.own]
        assert len(set(in_use)) == len(in_use)
        assert len(in_use) + allocator.available <= allocator.size
    for tokens, lease in held:
        cache.keep(tokens, lease)
    while (victim := cache.tree.next_victim()) is not None:
        allocator.free([cache.tree.evict(victim)])
    assert sorted(allocator.alloc(allocator.available)) == list(range(12))
