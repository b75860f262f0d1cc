"""Order candidates by their texts: what is looked at, the model that weighs it, and the step itself."""
