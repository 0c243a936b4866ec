diff
