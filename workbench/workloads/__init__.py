"""Floor 3: what is sent to an arm. One module a workload.

command     execute the arm's command once a session, or a harness that drives a server
single      one request, many times
sessions    multi-turn tool calls with known answers
replay      request bodies from a file
simulated   the public test double

What they are made of:

server      a session of requests to a server: options, client, connections
bodies      what is sent, and what is laid over it
exchanges   what came back: from the reply of a server to an exchange
records     sessions with known answers, drawn and judged
harness     exchanges that a command wrote down
output      what a process writes, cut in the middle
textfile    a file of the user's, read whole
"""
