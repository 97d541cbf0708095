"""The Hub: publishes dataset and metric, sends and checks submissions, builds the leaderboard."""
