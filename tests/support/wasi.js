// Runs a WebAssembly program with the WASI of node: node [--experimental-wasi-unstable-preview1] wasi.js PROGRAM.wasm
'use strict';
const fs = require('fs');
const { WASI } = require('wasi');

const wasi = new WASI({ version: 'preview1', args: [process.argv[2]], returnOnExit: true });
WebAssembly.instantiate(fs.readFileSync(process.argv[2]), { wasi_snapshot_preview1: wasi.wasiImport })
    .then(({ instance }) => { process.exitCode = wasi.start(instance); })
    .catch((error) => { console.error(String(error)); process.exitCode = 1; });
