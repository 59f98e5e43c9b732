"""The races of bench/race.py, one file each, and what they share: contest.py, data.py, chart.py, inside.py."""
