"""What views show, as text and data. Pure: no widget, no disk, no clock; what it draws is inert.

page     lines of a report with what each of them is: heading, warning, command
tree     the falsification tree: nodes, their labels at a width, filtering
rows     lists of runs and commits, a row each, filtering
live     a run under way or ended
entries  what happened, from every source, in the order of time
similar  suspects that say nearly the same
frame    the line above and the line below every view
"""
