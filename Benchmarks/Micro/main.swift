print("Micro")
