"""bounce_samples.py - reports in the formats of many mail servers, with their meaning.

Each sample has the kind and the class that a person concludes from its text.  The texts
are made up after the documentation and the messages of the servers.
"""
from email import message_from_string
from email.message import EmailMessage
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

DAEMON = "Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>"
ORIGINAL = """\
Received: from list.example.org (list.example.org [192.0.2.9])
\tby mx.example.net with ESMTP; Mon, 16 Nov 2026 10:00:00 +0000
From: Papers <papers@list.example.org>
To: eva@example.com
Subject: Your papers: no such user study, mailbox full of spam
Message-ID: <1.2@list.example.org>

3 papers. The account of a user who does not exist.
"""


class Sample:
    """A message, and the kind and class expected for it."""

    def __init__(self, name, kind, verdict, message):
        self.name, self.kind, self.verdict = name, kind, verdict
        self.data = message.as_bytes()


def text(name, kind, verdict, body, subject="Undelivered Mail Returned to Sender",
         sender=DAEMON, html=False, original="", **fields):
    """A report of one text part; original is appended behind this line."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = "bounce@list.example.org"
    message["Subject"] = subject
    message["Date"] = "Mon, 16 Nov 2026 10:00:05 +0000"
    message["Message-ID"] = "<r1@mx.example.net>"
    if "return_path" not in fields:
        message["Return-Path"] = "<>"
    for field, value in fields.items():
        if value is not None:
            message[field.replace("_", "-")] = value
    if original:
        body += f"\n{original}\n\n{ORIGINAL}"
    message.set_content(body, subtype="html" if html else "plain")
    return Sample(name, kind, verdict, message)


def report(name, kind, verdict, body, fields, subtype="report",
           status_type="delivery-status", returned=True, subject="Delivery report",
           sender=DAEMON):
    """A multipart with a part of fields; groups are separated by empty lines."""
    message = MIMEMultipart(subtype)
    if subtype == "report":
        message.set_param("report-type", status_type)
    message["From"] = sender
    message["To"] = "bounce@list.example.org"
    message["Subject"] = subject
    message["Return-Path"] = "<>"
    message.attach(MIMEText(body))
    message.attach(message_from_string(
        f"Content-Type: message/{status_type}\n\n{fields}\n"))
    if returned:
        inner = EmailMessage()
        inner["From"] = "papers@list.example.org"
        inner["To"] = "eva@example.com"
        inner["Subject"] = "Your papers: mailbox full of spam"
        inner["Message-ID"] = "<1.2@list.example.org>"
        inner.set_content("3 papers")
        message.attach(MIMEMessage(inner))
    return Sample(name, kind, verdict, message)


def failure(action="failed", status="5.1.1", diagnostic=""):
    """Fields of a delivery report for one recipient."""
    lines = ["Reporting-MTA: dns; mx.example.net", "",
             "Final-Recipient: rfc822; eva@example.com", f"Action: {action}",
             f"Status: {status}"]
    return "\n".join(lines + ([f"Diagnostic-Code: {diagnostic}"] if diagnostic else []))


TEXTS = [
    text("without a sender", "bounce", "dead", """\
Your message could not be delivered:

<eva@example.com>: 550 5.1.1 user unknown
""", sender="MAILER-DAEMON <>", return_path=None),
    text("SMTP:RCPT", "bounce", "dead", """\
An error has occurred while attempting to deliver a message to these recipients:

eva@example.com: SMTP:RCPT host 192.0.2.5: 553 sorry, that is not a known user
""", "failure notice", sender="postbox <>", return_path=None),
    text("SMTP:DATA", "bounce", "unknown", """\
An error has occurred while attempting to deliver a message to these recipients:

eva@example.com: SMTP:DATA host 192.0.2.5: 550 user unknown
""", "failure notice", sender="postbox <>", return_path=None),
    text("sendmail 8, user unknown", "bounce", "dead", """\
The original message was received at Mon, 16 Nov 2026 10:00:00 GMT
from list.example.org [192.0.2.9]

   ----- The following addresses had permanent fatal errors -----
<eva@example.com>
    (reason: 550 5.1.1 <eva@example.com>... User unknown)

   ----- Transcript of session follows -----
... while talking to mx.example.com.:
>>> DATA
<<< 550 5.1.1 <eva@example.com>... User unknown
550 5.1.1 <eva@example.com>... User unknown
<<< 503 5.0.0 Need RCPT (recipient)
""", "Returned mail: see transcript for details",
         original="   ----- Original message follows -----"),
    text("sendmail 8, relaying denied", "bounce", "sender", """\
   ----- The following addresses had permanent fatal errors -----
<eva@example.com>
    (reason: 550 5.7.1 <eva@example.com>... Relaying denied. IP name lookup failed)

   ----- Transcript of session follows -----
... while talking to mx.example.com.:
>>> RCPT To:<eva@example.com>
<<< 550 5.7.1 <eva@example.com>... Relaying denied. IP name lookup failed [192.0.2.9]
""", original="   ----- Original message follows -----"),
    text("sendmail 8, warning", "delayed", "temporary", """\
    **********************************************
    **      THIS IS A WARNING MESSAGE ONLY      **
    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **
    **********************************************

   ----- Transcript of session follows -----
<eva@example.com>... Deferred: Connection timed out with mx.example.com.
Warning: message still undelivered after 4 hours
Will keep trying until message is 5 days old
""", "Warning: could not send message for past 4 hours"),
    text("sendmail V5, user unknown", "bounce", "dead", """\
   ----- Transcript of session follows -----
While talking to mx.example.com:
>>> RCPT To:<eva@example.com>
<<< 550 <eva@example.com>... User unknown
550 <eva@example.com>... User unknown

""", "Returned mail: User unknown",
         original="   ----- Unsent message follows -----"),
    text("sendmail V5, host unknown", "bounce", "dead", """\
   ----- Transcript of session follows -----
421 mx.example.com: Host unknown (Name server: mx.example.com: no data known)
550 <eva@nosuch.example>... Host unknown
""", "Returned mail: Host unknown",
         original="   ----- Unsent message follows -----"),
    text("Exchange 2003, unknown recipient", "bounce", "dead", """\
Your message

  To:      eva@example.com
  Subject: Your papers
  Sent:    Mon, 16 Nov 2026 10:00:00 +0000

did not reach the following recipient(s):

eva@example.com on Mon, 16 Nov 2026 10:00:04 +0000
    The recipient name is not recognized
\tThe MTS-ID of the original message is: c=de;a= ;p=example;l=MAIL1-261116
    MSEXCH:IMS:Example:SITE:MAIL1 0 (000C05A6) Unknown Recipient
""", "Undeliverable: Your papers", "System Administrator <postmaster@example.com>"),
    text("Exchange 2003, no such account", "bounce", "dead", """\
Your message did not reach some or all of the intended recipients.

      Subject:  Your papers
      Sent:     16.11.2026 10:00

The following recipient(s) could not be reached:

      eva@example.com on 16.11.2026 10:00
            The e-mail account does not exist at the organization this message was \
sent to.  Check the e-mail address, or contact the recipient directly to find out the \
correct address.
            <mail1.example.com #5.1.1>
""", "Undeliverable: Your papers", "System Administrator <postmaster@example.com>"),
    text("Exchange 2003, mailbox full", "bounce", "full", """\
Your message did not reach some or all of the intended recipients.

The following recipient(s) could not be reached:

      eva@example.com on 16.11.2026 10:00
            The recipient's mailbox is full or has exceeded its storage limit.
            <mail1.example.com #5.2.2>
""", "Undeliverable: Your papers", "System Administrator <postmaster@example.com>"),
    text("Exchange 2007, not found", "bounce", "dead", """\
Delivery has failed to these recipients or distribution lists:

eva@example.com
The recipient's e-mail address was not found in the recipient's e-mail system. \
Microsoft Exchange will not try to redeliver this message for you. Please check the \
e-mail address and try resending this message, or provide the following diagnostic \
text to your system administrator.

Diagnostic information for administrators:

Generating server: mail.example.com

eva@example.com
#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##

""", "Undeliverable: Your papers",
         "Microsoft Exchange <postmaster@example.com>",
         original="Original message headers:"),
    text("Exchange 2010 in German, not found", "bounce", "dead", """\
Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Verteilerlisten:

eva@example.com
Die eingegebene E-Mail-Adresse konnte nicht gefunden werden. Überprüfen Sie die \
E-Mail-Adresse des Empfängers, und versuchen Sie, die Nachricht erneut zu senden.

Diagnoseinformationen für Administratoren:

Generierender Server: mail.example.com

eva@example.com
#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##
""", "Unzustellbar: Your papers", "Microsoft Exchange <postmaster@example.com>"),
    text("Exchange Online, only members may send", "bounce", "sender", """\
Delivery has failed to these recipients or groups:

team@example.com
Your message couldn't be delivered because the group you're sending to isn't set up to
accept messages from external senders.

Diagnostic information for administrators:

Generating server: AM0PR0202.eurprd02.prod.outlook.com

team@example.com
Remote Server returned '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; \
authentication required; Delivery restriction check failed because the sender was not \
authenticated when sending to this group'
""", "Undeliverable: Your papers", "postmaster@example.com"),
    text("1&1, user unknown", "bounce", "dead", """\
This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. This is a permanent error. The following address
failed:

"eva@example.com":
SMTP error from remote server after RCPT command:
host: mx.example.com
5.1.1 <eva@example.com>... User unknown
""", "Mail delivery failed: returning message to sender",
         "Mail Delivery System <mailer-daemon@kundenserver.de>",
         original="--- The header of the original message is following. ---"),
    text("GMX, size", "bounce", "sender", """\
This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. The following addresses failed:

    <eva@gmx.example>

For the following reason:

Mail size limit exceeded. For explanation visit https://postmaster.gmx.net/en/error
""", "Mail delivery failed: returning message to sender",
         "GMX Mailer Daemon <mailer-daemon@gmx.example>",
         original="--- The header of the original message is following. ---"),
    text("Yahoo, no account", "bounce", "dead", """\
Message from yahoo.example.
Unable to deliver message to the following address(es).

<eva@yahoo.example>:
This user doesn't have a yahoo.example account (eva@yahoo.example) [0]

""", "Failure Notice", "MAILER-DAEMON@yahoo.example",
         original="--- Original message follows."),
    text("Yahoo, over quota", "bounce", "full", """\
Sorry, we were unable to deliver your message to the following address.

<eva@yahoo.example>:
552: 5.2.2 This message is larger than the current system limit or the recipient's \
mailbox is full.
""", "Failure Notice", "MAILER-DAEMON@yahoo.example",
         original="--- Below this line is a copy of the message."),
    text("AOL, IP blocked", "bounce", "sender", """\
This is the mail system at host omr-m1.mx.aol.example.

The mail system

<eva@aol.example>: host mailin.mx.aol.example[192.0.2.7] refused to talk to me: 554
    5.7.1 : (RLY:B1) https://postmaster.aol.example/error-codes#554rlyb1 reputation
"""),
    text("Yandex, no such user", "bounce", "dead", """\
This message was created automatically by mail delivery software.

Your message was not delivered to the following recipients:

eva@yandex.example: host mx.yandex.example said: 550 5.7.1 No such user! (in reply \
to RCPT TO command)
""", "Недоставленное сообщение", "mailer-daemon@yandex.example"),
    text("Zoho, user unknown", "bounce", "dead", """\
<html><body>This message was created automatically by mail delivery software.
<br>A message that you sent could not be delivered to one or more of its recipients.
This is a permanent error.<br><br>
<b>eva@example.com</b> Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1
&lt;eva@example.com&gt;... User Unknown<br><br></body></html>
""", "Undelivered Mail Returned to Sender", "mailer-daemon@mail.zoho.example", True),
    text("James, unknown user", "bounce", "dead", """\
Hi. This is the James mail server at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.  Below
I include the list of recipients and the reason why I was unable to deliver
your message.

Failed recipient(s):
eva@example.com

Error message:
550 5.1.1 unknown user
""", "Re: Your papers", "postmaster@mx.example.net",
         original="Message headers follow:"),
    text("MailMarshal, user unknown", "bounce", "dead", """\
Your message:
   From:    papers@list.example.org
   Subject: Your papers

Could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected:
    eva@example.com

Additional Information
======================
""", "Undeliverable Mail: \"Your papers\"", "mailmarshal@example.net",
         original="Original message headers:"),
    text("MailMarshal, content", "bounce", "sender", """\
Your message:
   From:    papers@list.example.org
   Subject: Your papers

Could not be delivered because of

554 5.7.1 Message blocked by content filter

The following recipients were affected:
    eva@example.com
""", "Undeliverable Mail: \"Your papers\"", "postmaster@example.net"),
    text("SurfControl, no such user", "bounce", "dead", """\
Your message could not be delivered.
When attempting delivery to the following host, an error occurred.
Failed to send to identified host,
eva@example.com: [192.0.2.5], 550 eva@example.com... No such user
--- Message non-deliverable.
""", "Unable to deliver", "Mail Delivery Server <postmaster@example.net>"),
    text("IMail, unknown user", "bounce", "dead", """\
Unknown user: eva@example.com

""", "Undeliverable Mail", "Postmaster <postmaster@mx.example.net>",
         original="Original message follows."),
    text("IMail, mailbox too large", "bounce", "full", """\
User mailbox exceeds allowed size: eva@example.com

""", "Undeliverable Mail", "Postmaster <postmaster@mx.example.net>",
         original="Original message follows."),
    text("IMail, many attempts", "bounce", "temporary", """\
Delivery failed 20 attempts: eva@example.com
Connection timed out

""", "Undeliverable Mail", "Postmaster <postmaster@mx.example.net>",
         original="Original message follows."),
    text("InterScan, unknown user", "bounce", "dead", """\
Sent >>> RCPT TO:<eva@example.com>
Received <<< 550 5.1.1 unknown user

Unable to deliver message to <eva@example.com>
""", "Mail could not be delivered", "InterScan MSS <postmaster@example.net>"),
    text("mFILTER, unknown user", "bounce", "dead", """\
このメールは自動送信されています。

メールを配信できませんでした。

-------server message
550 5.1.1 unknown user <eva@example.jp>

""", "failure notice", "MAILER-DAEMON@mfilter.example.jp",
         original="-------original message"),
    text("Sun Messaging Server, illegal alias", "bounce", "dead", """\
This report relates to a message you sent with the following header fields:

  Message-id: <1.2@list.example.org>
  Subject: Your papers

Your message cannot be delivered to the following recipients:

  Recipient address: eva@example.com
  Reason: unknown or illegal alias: eva@example.com
""", "Delivery Notification: Delivery has failed",
         "Internet Mail Delivery <postmaster@mx.example.net>"),
    text("Sun Messaging Server, remote refusal", "bounce", "dead", """\
Your message cannot be delivered to the following recipients:

  Recipient address: eva@example.com
  Reason: Remote SMTP server has rejected address
  Diagnostic code: smtp;550 5.1.1 <eva@example.com>... User Unknown
  Remote system: dns;mx.example.com (TCP|192.0.2.1|42|192.0.2.2|25)
""", "Delivery Notification: Delivery has failed",
         "Internet Mail Delivery <postmaster@mx.example.net>"),
    text("CommuniGate, user unknown", "bounce", "dead", """\
Failed to deliver to '<eva@example.com>'
SMTP module(domain example.com) reports:
 host mx.example.com says:
 550 5.1.1 unknown user account
""", "Undeliverable mail: Your papers", "MAILER-DAEMON@mx.example.net"),
    text("CommuniGate, quota", "bounce", "full", """\
Failed to deliver to '<eva@example.com>'
LOCAL module(account eva) reports:
 account is full (quota exceeded)
""", "Undeliverable mail: Your papers", "MAILER-DAEMON@mx.example.net"),
    text("au, account disabled", "bounce", "dead", """\
The user(s) account is disabled.

<eva@ezweb.example>: 550 user unknown
""", "Mail System Error - Returned Mail", "Postmaster@ezweb.example"),
    text("au, over quota", "bounce", "full", """\
The user(s) account is temporarily over quota.

<eva@ezweb.example>
""", "Mail System Error - Returned Mail", "Postmaster@ezweb.example"),
    text("au, refused by a remote server", "bounce", "dead", """\
Each of the following recipients was rejected by a remote mail server.

  Recipient: <eva@ezweb.example>
  >>> RCPT TO:<eva@ezweb.example>
  <<< 550 <eva@ezweb.example>: User unknown
""", "Mail System Error - Returned Mail", "Postmaster@ezweb.example"),
    text("docomo at the end of the message", "bounce", "unknown", """\
This is the mail system at host mx.example.net.

<eva@docomo.example>: host mfsmax.docomo.example[192.0.2.3] said: 550 Unknown user
    eva@docomo.example (in reply to end of DATA command)
"""),
    text("docomo at RCPT", "bounce", "dead", """\
This is the mail system at host mx.example.net.

<eva@docomo.example>: host mfsmax.docomo.example[192.0.2.3] said: 550 Unknown user
    eva@docomo.example (in reply to RCPT TO command)
"""),
    text("Biglobe, local limit", "bounce", "full", """\
   ----- The following addresses had delivery problems -----
********@biglobe.example    (unrecoverable error)

   ----- Non-delivered information -----
The number of messages in recipient's mailbox exceeded the local limit.
""", "Returned mail: delivery problems", "postmaster@biglobe.example"),
    text("OpenSMTPD, mailbox full", "bounce", "full", """\
    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

eva@example.com: 552 5.2.2 <eva@example.com>... Mailbox Full

    Below is a copy of the original message:
""", "Delivery status notification: error", original=" "),
    text("OpenSMTPD, delay", "delayed", "temporary", """\
    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    A message is delayed for more than 4h for the following
    list of recipients:

eva@example.com: Network error on destination MXs

    Please note that this is only a temporary failure report.
    The message is kept in the queue for up to 5 days.
    You DO NOT NEED to re-send the message to these recipients.
""", "Delivery status notification: delayed"),
    text("Courier, user unknown", "bounce", "dead", """\
This is a delivery status notification from mx.example.net,
running the Courier mail server, version 0.78.

The original message was received on Mon, 16 Nov 2026 10:00:00 +0000
from list.example.org ([192.0.2.9])

---------------------------------------------------------------------------

                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<eva@example.com>:
    mx.example.com [192.0.2.1]:
>>> RCPT TO:<eva@example.com>
<<< 550 5.1.1 <eva@example.com>... User Unknown
""", "NOTICE: mail delivery status.",
         "\"Courier mail server at mx.example.net\" <postmaster@mx.example.net>"),
    text("MDaemon, recipient unknown", "bounce", "dead", """\
The attached message had PERMANENT fatal delivery errors!

After one or more unsuccessful delivery attempts the attached message has
been removed from the mail queue on this server.

YOUR MESSAGE WAS NOT DELIVERED TO ONE OR MORE RECIPIENTS!

-- Session Transcript:
 Mon 2026-11-16 10:00:01: <-- 220 mx.example.com ESMTP
 Mon 2026-11-16 10:00:01: --> MAIL From:<bounce@list.example.org>
 Mon 2026-11-16 10:00:01: <-- 250 <bounce@list.example.org>, Sender ok
 Mon 2026-11-16 10:00:01: --> RCPT To:<eva@example.com>
 Mon 2026-11-16 10:00:01: <-- 550 <eva@example.com>, Recipient unknown
-- End Transcript
""", "MDaemon Notification -- Permanent Delivery Failure",
         "MDaemon <MDaemon@mx.example.net>"),
    text("Kerio, user unknown", "bounce", "dead", """\
Your message could not be delivered to the following recipients:

<eva@example.com>
  (mx.example.com: 550 5.1.1 Mailbox does not exist)

Your message is attached.
""", "Undeliverable: Your papers", "Kerio Connect <postmaster@mx.example.net>"),
    text("GroupWise, user not found", "bounce", "dead", """\
The message that you sent was undeliverable to the following:
\teva (user not found)

Possibly truncated original message follows:
""", "Message status - undeliverable", "Mailer-Daemon@example.com"),
    text("GroupWise, disk quota", "bounce", "full", """\
The message that you sent was undeliverable to the following:
\teva (mailbox size limit exceeded: user is over the disk quota)
""", "Message status - undeliverable", "Mailer-Daemon@example.com"),
    text("Notes, not listed", "bounce", "dead", """\
Your message

  Subject: Your papers

was not delivered to:

  eva@example.com

because:

  User eva (eva@example.com) not listed in Domino Directory
""", "DELIVERY FAILURE: User eva (eva@example.com) not listed in Domino Directory",
         "Postmaster@example.com"),
    text("hMailServer, unknown user", "bounce", "dead", """\
Your message did not reach some or all of the intended recipients.

   Sent: Mon, 16 Nov 2026 10:00:00 +0000
   Subject: Your papers

The following recipient(s) could not be reached:

eva@example.com
   Error Type: SMTP
   Remote server (192.0.2.1) issued an error.
   hMailServer sent: RCPT TO:<eva@example.com>
   Remote server replied: 550 Unknown user

hMailServer
""", "Message undeliverable: Your papers", "mailer-daemon@mx.example.net"),
    text("hMailServer, no connection", "bounce", "temporary", """\
Your message did not reach some or all of the intended recipients.

The following recipient(s) could not be reached:

eva@example.com
   Error Type: SMTP
   Error Description: No mail servers appear to be available
   Additional information: Connection to the recipient's server timed out.

   Tried 4 time(s)
""", "Message undeliverable: Your papers", "mailer-daemon@mx.example.net"),
    text("Exim, unrouteable address", "bounce", "dead", """\
This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  eva@nosuch.example
    Unrouteable address
""", "Mail delivery failed: returning message to sender",
         "Mail Delivery System <Mailer-Daemon@mx.example.net>",
         original="------ This is a copy of the message, including all the headers. "
                  "------", X_Failed_Recipients="eva@nosuch.example"),
    text("Exim, retry timeout", "bounce", "temporary", """\
This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  eva@example.com
    host mx.example.com [192.0.2.1]: retry timeout exceeded
    Connection timed out
""", "Mail delivery failed: returning message to sender",
         "Mail Delivery System <Mailer-Daemon@mx.example.net>",
         X_Failed_Recipients="eva@example.com"),
    text("Exim, sender verify", "bounce", "sender", """\
This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  eva@example.com
    SMTP error from remote mail server after RCPT TO:<eva@example.com>:
    550-Verification failed for <bounce@list.example.org>
    550-No Such User Here
    550 Sender verify failed
""", "Mail delivery failed: returning message to sender",
         "Mail Delivery System <Mailer-Daemon@mx.example.net>",
         X_Failed_Recipients="eva@example.com"),
    text("Exim, delay", "delayed", "temporary", """\
This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on mx.example.net.

The address to which the message has not yet been delivered is:

  eva@example.com
    host mx.example.com [192.0.2.1]
    Delay reason: Connection timed out

No action is required on your part. Delivery attempts will continue for
some time, and this warning may be repeated at intervals.
""", "Warning: message 1kAbCd-000 delayed 24 hours",
         "Mail Delivery System <Mailer-Daemon@mx.example.net>"),
    text("qmail, vpopmail", "bounce", "dead", """\
Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<eva@example.com>:
Sorry, no mailbox here by that name. vpopmail (#5.1.1)

""", "failure notice", original="--- Below this line is a copy of the message."),
    text("qmail, chkuser quota", "bounce", "full", """\
Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<eva@example.com>:
192.0.2.1 does not like recipient.
Remote host said: 552 5.2.2 sorry, recipient mailbox is over quota (#5.2.2 - chkuser)
Giving up on 192.0.2.1.
""", "failure notice", original="--- Below this line is a copy of the message."),
    text("qmail, spam", "bounce", "sender", """\
Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.

<eva@example.com>:
192.0.2.1 failed after I sent the message.
Remote host said: 550 5.7.1 Message rejected as spam; user unknown to us may ask
the postmaster
""", "failure notice", original="--- Below this line is a copy of the message."),
    text("ActiveHunter, unknown user", "bounce", "dead", """\
  ----- The following addresses had permanent fatal errors -----

>>> eva@example.com

550 sorry, no mailbox here by that name (#5.1.1 - chkuser)

  ----- Original message follows -----
""", "FAILURE NOTICE :", "Mailer Daemon <MAILER-DAEMON@ah.example.jp>"),
    text("MailFoundry, unable to deliver", "bounce", "dead", """\
Unable to deliver message to: <eva@example.com>
Delivery failed for the following reason:
Server mx.example.com[192.0.2.1] failed with: 550 <eva@example.com> No such user here

This has been a permanent failure.  No further delivery attempts will be made.
""", "Message delivery has failed", "MAILER-DAEMON@mf.example.net"),
    text("Verizon, illegal alias", "bounce", "dead", """\
Error: Unknown address: eva@verizon.example

A message that you sent could not be delivered to one or more recipients.
The following address(es) failed: eva@verizon.example
550 5.1.1 unknown or illegal alias
""", "Undeliverable Message", "Post Master <postmaster@verizon.example>"),
    text("a German provider", "bounce", "dead", """\
Ihre Nachricht konnte nicht zugestellt werden.

Der Empfänger eva@example.de ist unbekannt.
""", "Unzustellbare Nachricht", "Mail-Dienst <postmaster@example.de>"),
    text("a French provider, mailbox full", "bounce", "full", """\
Votre message n'a pas pu être remis au destinataire suivant :

eva@example.fr : la boîte aux lettres du destinataire est pleine.
""", "Message non remis", "postmaster@example.fr"),
    text("a Spanish provider", "bounce", "dead", """\
No se ha podido entregar su mensaje al siguiente destinatario:

eva@example.es
550 La cuenta de correo no existe
""", "Mensaje no entregado", "MAILER-DAEMON@example.es"),
    text("an Italian provider", "bounce", "dead", """\
Il messaggio non è stato consegnato al seguente destinatario:

eva@example.it: utente sconosciuto
""", "Mancata consegna", "postmaster@example.it"),
    text("a Polish provider", "bounce", "dead", """\
Twoja wiadomość nie została dostarczona do odbiorcy:

eva@example.pl: 550 Nieznany użytkownik
""", "Wiadomość niedostarczona", "MAILER-DAEMON@example.pl"),
    text("a Russian provider", "bounce", "dead", """\
Письмо не может быть доставлено следующим получателям:

eva@example.ru
550 Почтовый ящик не существует
""", "Письмо не доставлено", "mailer-daemon@example.ru"),
    text("a Chinese provider", "bounce", "dead", """\
很抱歉,您的邮件被退回。

收件人:eva@example.cn
退信原因:收件人邮箱地址不存在
""", "系统退信", "postmaster@example.cn"),
    text("a Japanese provider", "bounce", "dead", """\
次の宛先にメールを配信できませんでした。

eva@example.jp
指定されたメールアドレスは存在しません。
""", "配信不能通知", "postmaster@example.jp"),
    text("a gateway that only guesses", "bounce", "unknown", """\
Your message could not be delivered to eva@example.com.

The most common reasons are that the address does not exist, the mailbox is full or
the domain is misspelled. Please check the address.
""", "Delivery failure", "postmaster@example.com"),
    text("list server, posting refused", "bounce", "sender", """\
Your message to the list could not be delivered:

550 5.7.2 Only members of the list may post; your address is not a known member
""", "Delivery failure", "postmaster@lists.example.com"),
    text("challenge", "bounce", "sender", """\
Your message could not be delivered to eva@example.com:
554 5.7.1 Recipient accepts mail from its whitelist only; complete the challenge
""", "Delivery failure", "postmaster@example.com"),
    text("vacation", "auto", "auto", """\
I am on vacation until Monday. My mailbox is full and I do not read mail.
In urgent cases write to max@example.com, my old address no longer exists.
""", "Out of office: Your papers", "Eva <eva@example.com>",
         Auto_Submitted="auto-replied"),
    text("absence in German", "auto", "auto", """\
Ich bin bis Montag nicht erreichbar. Ihre Nachricht wird nicht weitergeleitet.
""", "Automatische Antwort: Your papers", "Eva <eva@example.com>"),
    text("person left, automatic reply", "auto", "auto", """\
Eva has left the company; this mailbox is no longer monitored.
""", "Automatic reply: Your papers", "Eva <eva@example.com>",
         X_Auto_Response_Suppress="All", Auto_Submitted="auto-generated"),
    text("a ticket system", "auto", "auto", """\
Your request has been received and is assigned the number 4711.
""", "[#4711] Your papers", "Support <support@example.com>",
         Auto_Submitted="auto-replied"),
    text("a person asks", "none", "unknown", """\
Hi, I got "550 user unknown" when I wrote to eva@example.com. Is her mailbox full?
""", "Undelivered mail?", "Max <max@example.com>", return_path=None),
    text("a person forwards a bounce", "none", "unknown", """\
See below.

> The following address failed: eva@example.com 550 5.1.1 User unknown
""", "Fwd: Undelivered Mail Returned to Sender", "Max <max@example.com>",
         return_path=None),
    text("a newsletter about mail", "none", "unknown", """\
This week: why "mailbox unavailable" does not mean that a user does not exist.
""", "Delivery problems explained", "News <news@example.com>", return_path=None),
    text("a plain text, no such recipient", "bounce", "dead", """\
The following message could not be delivered to the recipient:

Recipient: eva@example.com
Reason: The recipient does not exist in the destination system.
Error code: 550
""", "Mail delivery problem", "postmaster@example.com"),
    text("a server response", "bounce", "dead", """\
Your e-mail was not delivered.

  To: eva@example.com
  Server response: 550 5.1.1 Mailbox not found
""", "Failed delivery", "Mail Delivery System <noreply-bounces@example.com>"),
    text("reputation with advice", "bounce", "sender", """\
We were unable to deliver your message.
Remote server returned: 550 5.7.1 Message blocked because the sending IP has \
a bad reputation.
Please check the address and try again.
""", "Undeliverable", "postmaster@example.com"),
    text("a plain text, over quota", "bounce", "full", """\
Sorry, your message could not be delivered because the destination \
mailbox is over its quota.

User: eva@example.com
""", "Message undeliverable", "Mailer-Daemon@example.com"),
    text("a session log, no such recipient", "bounce", "dead", """\
--- Session log ---
S: 220 mx.example.com ESMTP
C: EHLO relay.example.net
S: 250 mx.example.com
C: MAIL FROM:<bounce@list.example.org>
S: 250 OK
C: RCPT TO:<eva@example.com>
S: 550 No such recipient
C: QUIT
""", "Delivery failed", "MAILER-DAEMON@relay.example.net"),
    text("no response for five days", "bounce", "temporary", """\
Delivery to the following recipient failed permanently after 5 days:

   eva@example.com

The server mx.example.com did not respond.
""", "Delivery failure", "postmaster@example.net"),
    text("still trying", "delayed", "temporary", """\
Your message to eva@example.com has been delayed. We are still trying to deliver it.
Last error: 421 4.3.2 service not available
""", "Delivery delayed", "postmaster@example.net"),
    text("HTML, not found", "bounce", "dead", """\
<html><body><p>Your message to <b>eva@example.com</b> couldn't be delivered.</p>
<p><b>eva</b> wasn't found at <b>example.com</b>.</p>
<p>Status code: 550 5.1.10</p></body></html>
""", "Undeliverable: Your papers", "postmaster@example.com", True),
    text("account disabled", "bounce", "dead", """\
Message could not be delivered to the following:

  - eva@example.com: Account is disabled (554)
""", "Returned mail", "postmaster@example.com"),
    text("a Dutch provider", "bounce", "dead", """\
Uw bericht kon niet worden bezorgd.

eva@example.nl: 550 Onbekende gebruiker
""", "Onbestelbaar bericht", "postmaster@example.nl"),
    text("no reason given", "bounce", "unknown", """\
Your mail could not be delivered to eva@example.com. Contact the administrator.
""", "Returned mail", "postmaster@example.com"),
    text("new address, automatic reply", "auto", "auto", """\
This e-mail address is no longer in use. Please update your records: eva@new.example
""", "Auto: address change", "Eva <eva@example.com>", Auto_Submitted="auto-replied"),
    text("a weekly report", "none", "unknown", """\
Weekly report of the postmaster: nothing special.
""", "Report", "postmaster@example.com", return_path=None),
]



def jmrp():
    """A complaint as Microsoft sends it: the message is attached."""
    message = EmailMessage()
    message["From"] = "staff@hotmail.example"
    message["To"] = "bounce@list.example.org"
    message["Subject"] = "A message from 192.0.2.9"
    message.set_content("\n")
    inner = message_from_string("X-HmXmrOriginalRecipient: eva@example.com\n" + ORIGINAL)
    mixed = MIMEMultipart("mixed")
    for field, value in message.items():
        if field in ("From", "To", "Subject"):
            mixed[field] = value
    mixed.attach(MIMEText("\n"))
    mixed.attach(MIMEMessage(inner))
    return Sample("JMRP", "complaint", "complaint", mixed)


REPORTS = [
    report("RFC 3464, user unknown", "bounce", "dead", "Could not be delivered.",
           failure(diagnostic="smtp; 550 5.1.1 <eva@example.com> User unknown")),
    report("multipart/mixed, user unknown", "bounce", "dead", "Not delivered.",
           failure(diagnostic="smtp; 550 5.1.1 <eva@example.com> User unknown"),
           subtype="mixed"),
    report("multipart/mixed, delayed", "delayed", "temporary", "Delayed.",
           failure("delayed", "4.4.1", "smtp; connection timed out"), subtype="mixed"),
    report("only a status", "bounce", "dead", "Your message was not delivered.",
           failure(), returned=False),
    report("5.1.1 with spam", "bounce", "sender", "Your message was not delivered.",
           failure(diagnostic="smtp; 550 5.1.1 Message identified as SPAM")),
    report("5.7.1 with user unknown", "bounce", "dead", "Not delivered.",
           failure(status="5.7.1", diagnostic="smtp; 550 5.7.1 No such user here")),
    report("sendmail, refused after DATA", "bounce", "unknown", """\
   ----- The following addresses had permanent fatal errors -----
<eva@docomo.example>
    (reason: 550 Unknown user eva@docomo.example)

   ----- Transcript of session follows -----
... while talking to mfsmax.docomo.example.:
>>> DATA
<<< 550 Unknown user eva@docomo.example
554 5.0.0 Service unavailable
""", failure(diagnostic="SMTP; 550 Unknown user eva@docomo.example")),
    report("sendmail, 5.1.1 made of 550", "bounce", "unknown", "Not delivered.",
           failure(diagnostic="SMTP; 550 Denied")),
    report("delivered", "delivered", "delivered", "Delivered.",
           failure("delivered", "2.1.5", "smtp; 250 2.1.5 Ok")),
    report("relayed", "delivered", "delivered", "Relayed, no further notices.",
           failure("relayed", "2.1.9", "smtp; 250 2.1.9 Ok")),
    report("expanded", "delivered", "delivered", "Sent to a list.",
           failure("expanded", "2.1.5")),
    report("PowerMTA, mailbox full", "bounce", "full", "Hello, this is the mail server.",
           failure(status="5.2.2", diagnostic="smtp;552 5.2.2 over quota")
           + "\nX-PowerMTA-BounceCategory: quota-issues"),
    report("Exchange, recipient not found", "bounce", "dead", "Undeliverable.",
           failure(status="5.1.10", diagnostic="smtp;550 5.1.10 "
                  "RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP "
                  "address lookup")),
    report("Exchange, address blocked at the edge", "bounce", "dead", "Undeliverable.",
           failure(status="5.4.1", diagnostic="smtp;550 5.4.1 Recipient address "
                  "rejected: Access denied. AS(201806281)")),
    report("a status after prose", "bounce", "dead",
           "No answer was seen before; the policy of the organization rejects it.",
           failure(status="5.1.1")),
    report("prose after a status of the network", "bounce", "temporary",
           "The mailbox is busy.", failure(status="4.4.1")),
    report("DMARC", "bounce", "sender", "Undeliverable.",
           failure(status="5.7.26", diagnostic="smtp;550 5.7.26 Unauthenticated email "
                  "from example.org is not accepted due to domain's DMARC policy.")),
    report("expired", "bounce", "temporary", "Undeliverable.",
           failure(status="4.4.7", diagnostic="smtp;delivery time expired")),
    report("null MX", "bounce", "dead", "Undeliverable.",
           failure(status="5.1.10", diagnostic="X-Postfix; Domain example.com does not "
                  "accept mail (nullMX)")),
    report("complaint", "complaint", "complaint", "An abuse report.",
           "Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1",
           status_type="feedback-report", sender="feedback@isp.example"),
    report("complaint in multipart/mixed", "complaint", "complaint", "An abuse report.",
           "Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1",
           "mixed", "feedback-report", sender="staff@hotmail.example"),
    report("opt-out", "complaint", "complaint", "A person wants no more.",
           "Feedback-Type: opt-out\nUser-Agent: SomeGenerator/1.0\nVersion: 1",
           status_type="feedback-report", sender="feedback@isp.example"),
    report("not spam", "none", "unknown", "A person moved it to the inbox.",
           "Feedback-Type: not-spam\nUser-Agent: SomeGenerator/1.0\nVersion: 1",
           status_type="feedback-report", sender="feedback@isp.example"),
    report("read receipt", "auto", "auto", "Your message was read.",
           "Final-Recipient: rfc822;eva@example.com\nDisposition: manual-action/"
           "MDN-sent-manually; displayed",
           status_type="disposition-notification", sender="Eva <eva@example.com>"),
]

SAMPLES = TEXTS + REPORTS + [jmrp()]
