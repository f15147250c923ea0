#!/usr/bin/env node
"use strict";
// Its own file: on Windows a program does not learn by which name npm started it.
require("./run.js")("ctx-mcp");
