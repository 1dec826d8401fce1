"""Questions over what Dynamo did: frames, guards, recompiles, graph breaks, symbols, bytecode."""
