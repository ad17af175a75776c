"""The program of the process that serves the model: prints its address, and ends when its input is closed.

It imports nothing of Keepmind, so that it can be run by its path.
"""

import os
import signal
import sys

_AT_ONCE = 2
"""Answers made at a time: one to a person, one for the memory; each has the whole context."""
_RAM_FOR_PROMPTS_MIB = 256


def serve(model: str, context: int, threads: int) -> None:
    """Serve a model on a free port of this machine until the input is closed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx, params.n_parallel = context * _AT_ONCE, _AT_ONCE
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.sampling.temp, params.sampling.top_p = 0.2, 0.9  # what its makers advise, and less nonsense
    params.n_predict = context // 4
    params.cache_ram_mib = _RAM_FOR_PROMPTS_MIB
    params.use_jinja = True
    params.warmup = params.webui = False
    params.verbosity = -1
    params.hostname, params.port = "127.0.0.1", 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.buffer.read()
    # The server's own end waits for the answers in progress while it keeps them from ending.
    os._exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
