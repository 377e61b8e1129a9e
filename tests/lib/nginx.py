"""nginx.py - nginx with a server block, in a directory of its own.

    with Nginx(directory, block, port) as nginx: ...
    with nginx_of_readme(directory, chain, web_port) as nginx: ...
"""

import os

from peers import is_root, write
from readme import adapt, blocks
from tap import Child, free_port, need_programs

CONFIG = """\
daemon off;
pid {directory}/pid;
error_log stderr notice;
worker_processes 1;
{user}
events {{ worker_connections 1024; }}
http {{
    access_log {directory}/access.log;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
{block}
}}
"""


class Nginx:
    """nginx in the foreground; port is the one that the block listens on."""

    def __init__(self, directory, block, port):
        (self.program,) = need_programs("nginx")
        self.directory = directory
        self.port = port
        self.access_log = os.path.join(directory, "access.log")
        self.config = write(os.path.join(directory, "nginx.conf"), CONFIG.format(
            directory=directory, block=block, user="user nobody nogroup;" if is_root() else ""))
        self.child = None

    @property
    def url(self):
        return f"https://localhost:{self.port}"

    def __enter__(self):
        self.child = Child([self.program, "-c", self.config, "-e", "stderr"])
        try:
            self.child.wait_port(self.port)
        except BaseException:
            self.child.stop()
            raise
        return self

    def __exit__(self, *_):
        self.child.stop()


def nginx_of_readme(directory, chain, web_port):
    """nginx as doc/web.md configures it, for https://localhost and paperboy-web on a port."""
    (block,) = [text for text in blocks("doc/web.md") if "ssl_certificate " in text]
    port = free_port()
    live = "/etc/letsencrypt/live/papers.example.org"
    return Nginx(directory, adapt(block, {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "listen [::]:443 ssl;": "",
        "/var/log/nginx/error.log": "stderr",
        f"{live}/fullchain.pem": chain.cert,
        f"{live}/privkey.pem": chain.key,
        "server_name papers.example.org;": "server_name papers.example.org localhost;",
        "http://127.0.0.1:8080": f"http://127.0.0.1:{web_port}"}), port)
