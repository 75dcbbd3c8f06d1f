"""What is wrong with an agent's files, and how is it put right?"""
