"""The prefix tree: which pages hold which tokens, on the device, in the host mirror, or in both.

A node is one page. A page on the device has all the pages before it on the device too, so only pages
without children there can be evicted. The tree knows numbers of pages, never bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np


@dataclass(eq=False, slots=True)
class TreeNode:
    """One page of some prefix.

    Attributes:
        key: The page's tokens.
        parent: The page before it; None for the root.
        children: The pages after it.
        device_page: Where it lies on the device.
        host_page: Where it lies in the host mirror.
        lock_ref: Batches that use it now.
        last_access: Logical time of its last use.
        hits: Prompts that were kept with it.
    """

    key: bytes
    parent: TreeNode | None
    children: dict[bytes, TreeNode] = field(default_factory=dict)
    device_page: int | None = None
    host_page: int | None = None
    lock_ref: int = 0
    last_access: int = 0
    hits: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """The known prefix of a prompt: first pages on the device, then pages that only the host has."""

    device: tuple[TreeNode, ...]
    host: tuple[TreeNode, ...]


class RadixTree:
    """Prefixes in whole pages.

    Args:
        page_size: Tokens a page.
    """

    def __init__(self, page_size: int) -> None:
        self._page_size = page_size
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._clock = count(1)
        self._root = TreeNode(b"", None)
        self._on_device: dict[TreeNode, None] = {}
        self._on_host: dict[TreeNode, None] = {}

    @property
    def host_pages(self) -> int:
        """Pages that the host mirror holds."""
        return len(self._on_host)

    @property
    def evictable_pages(self) -> int:
        """Device pages that no batch uses."""
        return sum(node.lock_ref == 0 for node in self._on_device)

    def match(self, tokens: Sequence[int], limit: int) -> Match:
        """Find the longest known prefix of at most `limit` pages."""
        device: list[TreeNode] = []
        host: list[TreeNode] = []
        node, now = self._root, next(self._clock)
        for key in self._keys(tokens, limit):
            child = node.children.get(key)
            if child is None:
                break
            node = child
            node.last_access = now
            (host if node.device_page is None else device).append(node)
        return Match(tuple(device), tuple(host))

    def insert(self, tokens: Sequence[int], pages: Sequence[int]) -> list[TreeNode]:
        """Put the first `len(pages)` pages of a prompt into the tree.

        Returns:
            Their nodes. A node that was on the device before keeps its page; the caller frees its own.
        """
        path: list[TreeNode] = []
        node, now = self._root, next(self._clock)
        for key, page in zip(self._keys(tokens, len(pages)), pages, strict=True):
            child = node.children.get(key)
            if child is None:
                child = node.children[key] = TreeNode(key, node)
            if child.device_page is None:
                self.place(child, page)
            child.last_access = now
            child.hits += 1
            path.append(child)
            node = child
        return path

    def place(self, node: TreeNode, device_page: int) -> None:
        """Note that a page lies on the device."""
        node.device_page = device_page
        self._on_device[node] = None

    def mirror(self, node: TreeNode, host_page: int) -> None:
        """Note that a page lies in the host mirror."""
        node.host_page = host_page
        self._on_host[node] = None

    def lock(self, nodes: Sequence[TreeNode], by: int = 1) -> None:
        """Keep pages from eviction, or with -1 release them."""
        for node in nodes:
            node.lock_ref += by

    def next_victim(self) -> TreeNode | None:
        """Give the page to evict from the device: the least recently used one that nothing follows."""
        free = (
            node
            for node in self._on_device
            if node.lock_ref == 0 and all(child.device_page is None for child in node.children.values())
        )
        return min(free, key=lambda node: node.last_access, default=None)

    def evict(self, node: TreeNode) -> int:
        """Take a page off the device and give its number; without a host page it is forgotten."""
        page = node.device_page
        assert page is not None
        node.device_page = None
        del self._on_device[node]
        if node.host_page is None:
            self._forget(node)
        return page

    def next_host_victim(self) -> TreeNode | None:
        """Give the page to drop from the host: the least recently used one that has no successor."""
        free = (
            node
            for node in self._on_host
            if node.lock_ref == 0 and node.device_page is None and not node.children
        )
        return min(free, key=lambda node: node.last_access, default=None)

    def evict_host(self, node: TreeNode) -> int:
        """Drop a page from the host mirror and give its number."""
        page = node.host_page
        assert page is not None
        node.host_page = None
        del self._on_host[node]
        self._forget(node)
        return page

    def _forget(self, node: TreeNode) -> None:
        """Cut a node off, with what follows it: a prefix with a hole is of no use."""
        assert node.parent is not None
        node.parent.children.pop(node.key, None)

    def _keys(self, tokens: Sequence[int], pages: int) -> Iterator[bytes]:
        whole = min(pages, len(tokens) // self._page_size) * self._page_size
        ids = np.asarray(tokens[:whole], np.int32).reshape(-1, self._page_size)
        return (page.tobytes() for page in ids)
