"""Serve the shop on this machine, for trying it by hand."""

from __future__ import annotations

from wsgiref.simple_server import make_server

from shop.app import create_app

if __name__ == "__main__":
    with make_server("127.0.0.1", 8000, create_app()) as server:
        print("Serving on http://127.0.0.1:8000 (Ctrl-C stops)")
        server.serve_forever()
