"""What the C++ tool wherry-plan knows of schedules: candidates, estimates and pictures."""
