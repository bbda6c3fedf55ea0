class Thing:
    def __init__(self):
        pass
