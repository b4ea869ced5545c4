"""A mail server for the tests: prints its port, then each email it takes as a line of JSON."""

import asyncio
import email
import email.policy
import json

from aiosmtpd.smtp import SMTP


class Print:
    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "subject": message["Subject"],
            "sender": message["From"],
            "id": message["Message-ID"],
            "date": message["Date"].datetime.isoformat(),
            "auto_submitted": message["Auto-Submitted"],
            "type": message.get_content_type(),
            "text": message.get_content(),
            "defects": [str(it) for it in message.defects],
        }
        print(json.dumps(mail), flush=True)
        return "250 taken"


async def serve():
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(Print(), hostname="mail.test"), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
