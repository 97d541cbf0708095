"""Generation through the batch interfaces of providers: half the price, an answer within a day.

A batch run fills the same run directory with the same records as a live run, so that the two mix.
`api.generate_by_batch` is the whole of it as one call; `api.submit`, `status`, `collect` and `cancel` are its
steps.
"""
