"""Prefix cache of a prefill server: the tree, the pages that it owns, and its traffic with the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..managers.cache_controller import LOAD_BACK_QUOTA, CacheOperation, HiCacheController
from .pools import PageAllocator
from .radix import RadixTree, TreeNode


@dataclass(slots=True)
class Lease:
    """Pages that a request holds while it is prefilled.

    Attributes:
        cached: Nodes of its known prefix, locked.
        own: Pages for the rest, in order.
    """

    cached: tuple[TreeNode, ...]
    own: list[int] = field(default_factory=list)

    @property
    def pages(self) -> list[int]:
        """All pages, in the order of the tokens."""
        cached = [node.device_page for node in self.cached if node.device_page is not None]
        return cached + self.own


class PrefixCache:
    """Finds, keeps and evicts prefixes.

    Args:
        page_size: Tokens a page.
        allocator: Device pages.
        controller: The host mirror, or None without hierarchical cache.
        write_back: Back pages up when they are evicted, not when prompts are kept.
        write_after: Prompts with a page that have to be kept before it is backed up.
        enabled: Keep prefixes at all.
        load_back_quota: Pages that one batch may load.
    """

    def __init__(
        self,
        page_size: int,
        allocator: PageAllocator,
        controller: HiCacheController | None,
        *,
        write_back: bool = False,
        write_after: int = 1,
        enabled: bool = True,
        load_back_quota: int = LOAD_BACK_QUOTA,
    ) -> None:
        self._page_size = page_size
        self._allocator = allocator
        self._controller = controller
        self._write_back = write_back
        self._write_after = write_after
        self._enabled = enabled
        self._load_back_quota = load_back_quota
        self.tree = RadixTree(page_size)
        self.begin_batch()

    def begin_batch(self) -> None:
        """Grant a new quota of loads."""
        self._quota = self._load_back_quota

    def acquire(self, tokens: Sequence[int], reusable: int) -> Lease | None:
        """Lease pages for a prompt, the known part of it cached or queued to be loaded.

        Args:
            tokens: The prompt.
            reusable: Tokens that may come from the cache; the rest has to be computed.

        Returns:
            The lease, or None if the device has no room now.
        """
        limit = reusable // self._page_size if self._enabled else 0
        match = self.tree.match(tokens, limit)
        granted = match.host[: self._quota]
        total = -(-len(tokens) // self._page_size)
        lease = Lease((*match.device, *granted))
        self.tree.lock(lease.cached)
        pages = self._take(total - len(match.device))
        if pages is None:
            self.tree.lock(lease.cached, by=-1)
            return None
        self._load(granted, pages)
        lease.own = pages[len(granted) :]
        return lease

    def _load(self, nodes: Sequence[TreeNode], pages: Sequence[int]) -> None:
        if not nodes or self._controller is None:
            return
        pairs = []
        for node, page in zip(nodes, pages, strict=False):
            assert node.host_page is not None
            self.tree.place(node, page)
            pairs.append((node.host_page, page))
        self._controller.load(CacheOperation(tuple(pairs)))
        self._quota -= len(nodes)

    def keep(self, tokens: Sequence[int], lease: Lease) -> None:
        """End a lease: whole pages go into the tree, the rest is freed."""
        self.tree.lock(lease.cached, by=-1)
        whole = len(tokens) // self._page_size if self._enabled else 0
        pages = lease.pages
        path = self.tree.insert(tokens, pages[:whole])
        spare = [page for node, page in zip(path, pages, strict=False) if node.device_page != page]
        self._allocator.free(spare)
        self._allocator.free(pages[whole:])
        if not self._write_back:
            for node in path:
                if node.hits >= self._write_after:
                    self._back_up(node)

    def release_tail(self, tokens: Sequence[int], lease: Lease) -> None:
        """Free the page that is not full, which the tree has no use for."""
        whole = len(tokens) // self._page_size if self._enabled else 0
        kept = whole - len(lease.cached)
        self._allocator.free(lease.own[kept:])
        del lease.own[kept:]

    def release(self, lease: Lease) -> None:
        """End a lease without keeping what it holds."""
        self.tree.lock(lease.cached, by=-1)
        self._allocator.free(lease.own)

    def clear(self) -> None:
        """Empty tree, device and mirror."""
        self.tree.clear()
        self._allocator.clear()
        if self._controller is not None:
            self._controller.reset()

    def _take(self, count: int) -> list[int] | None:
        """Allocate device pages, evicting what was used longest ago."""
        if self._allocator.available + self.tree.evictable_pages < count:
            return None
        while self._allocator.available < count:
            victim = self.tree.next_victim()
            if victim is None:
                return None
            if self._write_back:
                self._back_up(victim)
            self._allocator.free([self.tree.evict(victim)])
        return self._allocator.alloc(count)

    def _back_up(self, node: TreeNode) -> None:
        if self._controller is None or node.host_page is not None or node.device_page is None:
            return
        free = self._controller.host_allocator
        if not free.available:
            victim = self.tree.next_host_victim()
            if victim is None:
                return
            free.free([self.tree.evict_host(victim)])
        (host_page,) = free.alloc(1)
        self._controller.write(host_page, node.device_page)
        self.tree.mirror(node, host_page)
