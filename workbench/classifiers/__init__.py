"""Floor 3: what a reply means. One module a classifier; all are pure.

exit_code   how a test command ended
"""
