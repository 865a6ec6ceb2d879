"""What a scheduler runs on: device, pools, gate, model, and the sizes of it all."""

from __future__ import annotations

from dataclasses import dataclass

from ..device import H2D_BYTES_PER_SECOND, Device
from ..environ import Environment
from ..layers.indexer import Indexer, TopKV2
from ..layers.model import CopyHeadModel
from ..mem_cache.geometry import Geometry
from ..mem_cache.index_key import index_k_format
from ..mem_cache.pool_configurator import (
    DeviceArena,
    DSV4PoolConfigurator,
    ModelConfig,
    bytes_per_full_token,
)
from ..mem_cache.pools import DeepSeekV4IndexerPool, DeepSeekV4TokenToKVPool, PageAllocator
from ..server_args import ServerArgs
from .layer_counter import LayerDoneCounter


@dataclass(frozen=True, slots=True)
class Runtime:
    """The parts of one engine process.

    Attributes:
        bytes_per_full_token: What the configurator counted for a token of the full model.
    """

    geometry: Geometry
    device: Device
    counter: LayerDoneCounter
    pool: DeepSeekV4TokenToKVPool
    allocator: PageAllocator
    arena: DeviceArena
    model: CopyHeadModel
    bytes_per_full_token: float

    @property
    def max_total_num_tokens(self) -> int:
        """Tokens that the pools hold."""
        return self.allocator.size * self.geometry.page_size

    @property
    def token_usage(self) -> float:
        """Share of the pages that are in use."""
        return 1 - self.allocator.available / self.allocator.size

    def describe(self) -> dict[str, object]:
        """Facts for `/server_info`."""
        return {
            "bytes_per_full_token": round(self.bytes_per_full_token, 2),
            "max_total_num_tokens": self.max_total_num_tokens,
            "index_k_dtype": self.pool.indexer_pool.format.name,
            "index_k_page_bytes": self.pool.indexer_pool.page_bytes,
            "token_to_kv_pool": type(self.pool).__name__,
        }


def build_runtime(
    args: ServerArgs,
    env: Environment,
    *,
    scale: int,
    slots: int,
    full_batch: int,
    indexer_pool: type[DeepSeekV4IndexerPool],
    configurator: type[DSV4PoolConfigurator],
    topk_v2: type[TopKV2],
) -> Runtime:
    """Build the parts of a process.

    Args:
        args: Flags.
        env: Environment.
        scale: Pages of the full model that a page stands for.
        slots: Requests that can hold a sliding window at once.
        full_batch: Units of work that memory for activations is made for.
        indexer_pool: Class of the indexer's pool.
        configurator: Class that sizes the pools.
        topk_v2: Class that selects index entries, unless the environment turns it off.

    Raises:
        ValueError: The pools would hold less than one request of full length.
    """
    geometry = Geometry(page_size=args.page_size)
    config = ModelConfig.load(args.model_path)
    sizes = configurator(config, bf16_index_k=env.dsv4_bf16_index_k)
    pages = sizes.full_token(args.mem_fraction_static) // (args.page_size * scale)
    if args.max_total_tokens is not None:
        pages = min(pages, args.max_total_tokens // args.page_size)
    if pages < geometry.pages_for(args.context_length):
        raise ValueError(
            f"the pools hold {pages * args.page_size} tokens, less than --context-length"
            f" {args.context_length}; raise --mem-fraction-static or --max-total-tokens"
        )
    bandwidth = H2D_BYTES_PER_SECOND if args.h2d_gbps is None else args.h2d_gbps * 1e9
    device = Device(bandwidth)
    counter = LayerDoneCounter(len(geometry.compress_ratios), device.forward)
    index_k = index_k_format(bf16=env.dsv4_bf16_index_k)
    pool = DeepSeekV4TokenToKVPool(device, counter, geometry, pages, slots, index_k, indexer_pool)
    taken = pages * args.page_size * scale * bytes_per_full_token(config, index_k.item_bytes)
    indexer = Indexer(
        pool.indexer_pool, topk_v2() if env.opt_use_topk_v2 else None, debug=env.debug_index_k
    )
    return Runtime(
        geometry=geometry,
        device=device,
        counter=counter,
        pool=pool,
        allocator=PageAllocator(pages),
        arena=DeviceArena(config, taken, args.mem_fraction_static, full_batch),
        model=CopyHeadModel(device, pool, indexer),
        bytes_per_full_token=sizes.bytes_per_full_token,
    )
