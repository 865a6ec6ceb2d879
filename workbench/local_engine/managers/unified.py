"""Both halves in one process and one thread (`--disaggregation-mode null`): the transfer is a call."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from ..environ import Environment
from ..server_args import ServerArgs
from .decode import DecodeScheduler
from .interface import Emit, GenerateRequest, TokenOutput
from .prefill import PrefillScheduler
from .scheduler_base import SchedulerBase


class UnifiedScheduler(SchedulerBase):
    """See `interface.Scheduler`. A step is one prefill batch, then one decode step.

    Args:
        args: Flags.
        env: Environment.
    """

    prefill_class: type[PrefillScheduler] = PrefillScheduler
    decode_class: type[DecodeScheduler] = DecodeScheduler

    def __init__(self, args: ServerArgs, env: Environment) -> None:
        super().__init__()
        self.decode = self.decode_class(args, env)
        self.prefill = self.prefill_class(args, env, self.decode.receive)
        self._rooms = count(1)

    def accept(self, request: GenerateRequest, emit: Emit) -> None:
        """See `SchedulerBase`."""
        request = replace(request, bootstrap_room=next(self._rooms))

        def prefilled(output: TokenOutput) -> None:
            if output.finish_reason in ("error", "abort"):
                self.decode.drop(output.rid, output.finish_reason, output.error)

        self.decode.accept(request, emit)
        self.prefill.accept(request, prefilled)

    def drop(self, rid: str) -> bool:
        """See `SchedulerBase`."""
        waiting = self.prefill.drop(rid)
        return self.decode.drop(rid) or waiting

    def abort_all(self) -> None:
        """See `SchedulerBase`."""
        self.prefill.abort_all()
        self.decode.abort_all()

    def flush(self) -> bool:
        """See `SchedulerBase`."""
        return self.decode.flush() and self.prefill.flush()

    def step(self) -> bool:
        """See `SchedulerBase`."""
        self.drain()
        prefilled = self.prefill.step()
        return self.decode.step() or prefilled

    def counters(self) -> dict[str, float]:
        """Counters of both halves; those that both have are added up."""
        prefill, decode = self.prefill.counters(), self.decode.counters()
        return {
            name: prefill.get(name, 0.0) + decode.get(name, 0.0)
            for name in sorted(prefill.keys() | decode.keys())
        }

    def describe(self) -> dict[str, object]:
        """Facts of the prefill half, and what decode has of its own."""
        tokens = self.decode.describe()["max_total_num_tokens"]
        return {**self.prefill.describe(), "decode_max_total_num_tokens": tokens}
