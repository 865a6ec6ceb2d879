"""The HTTP client: what was sent, what came back, how it ended; it makes no symptom of its own.

    client      `Client.send`: one JSON POST, streamed or not; every attempt is recorded
    control     `Control`: what a server is asked beside that: health, settings, metrics
    exchanging  one attempt: reads a body within limits, and says how it ended
    incoming    the bytes of a body as they come, or gathered
    wire        what aiohttp knows of an attempt and httpx does not say
    body        the first part of a body, and the length and digest of all of it
    faults      errors of the transport, each to its outcome
    joining     deltas to an answer: OpenAI's chat, SGLang's `/generate`
    shapes      what the events of those APIs look like
    sse         server-sent events, split over bytes
    retrying    `Retry-After` in both of its forms
    reply       the nouns: Request, Reply, Attempt, Answer, Outcome

What a garbled reply looks like can be made by a careless client too: by splitting lines where the
protocol has no line end, by taking a stream that was cut for one that ended, by replacing bytes in
silence, by retrying until it looks well. Nothing here does any of that, and each is a test.

Importing this package loads nothing; `client` and what it uses load httpx and aiohttp.
"""
