"""Floor 3: what a reply means. All are pure.

    exit_code    how a test command ended
    regex        which pattern is found in a reply
    expected     whether it is the right answer, known beforehand
    tool_call    what is wrong with a chat server's reply that may call tools

and what they stand on:

    reply        bodies of a chat server's routes, in one shape
    markup       blocks of calls in a text; quoting, dsml, families
    salad        signs of text that is no language
    schemas      JSON Schemas of tools
    words        labels that they share
"""
