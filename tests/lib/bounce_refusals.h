/*
 * bounce_refusals.h - refusals of many servers with the class of their meaning.
 *
 * The texts are made up after the documentation and the messages of the servers; the
 * classes are those that a person concludes.
 */
#ifndef PAPERBOY_TESTS_LIB_BOUNCE_REFUSALS_H
#define PAPERBOY_TESTS_LIB_BOUNCE_REFUSALS_H

#include "transport/bounce_class.h"

#define NO        SMTP_STAGE_NONE
#define CONNECT   SMTP_STAGE_CONNECT
#define EHLO      SMTP_STAGE_EHLO
#define MAIL      SMTP_STAGE_MAIL
#define RCPT      SMTP_STAGE_RCPT
#define DOT       SMTP_STAGE_DOT
#define DEAD      BOUNCE_DEAD
#define FULL      BOUNCE_FULL
#define TEMPORARY BOUNCE_TEMPORARY
#define SENDER    BOUNCE_SENDER
#define UNKNOWN   BOUNCE_UNKNOWN

struct refusal {
	enum bounce_class class;
	enum smtp_stage stage;
	int code;
	const char *status;
	const char *text;
};

/* clang-format off */
/* Of servers and providers, in many languages. */
static const struct refusal refusals[] = {
    {DEAD, RCPT, 550, "5.1.10",
     "RESOLVER.ADR.RecipientNotFound; Recipient eva@example.com not found by"
     " SMTP address lookup"},
    {DEAD, NO, 550, "5.1.1", "RESOLVER.ADR.RecipNotFound; not found"},
    {DEAD, NO, 550, "5.1.1", "RESOLVER.ADR.ExRecipNotFound; not found"},
    {DEAD, RCPT, 550, "5.4.1",
     "Recipient address rejected: Access denied. AS(201806281)"
     " [AM7EUR06FT031.eop-eur06.prod.protection.outlook.com]"},
    {DEAD, RCPT, 550, "5.4.1",
     "[eva@example.com]: Recipient address rejected: Access denied"},
    {DEAD, RCPT, 550, "5.5.0",
     "Requested action not taken: mailbox unavailable (S2017062302)."
     " [BL2NAM02FT008.eop-nam02.prod.protection.outlook.com]"},
    {DEAD, NO, 550, "5.2.1",
     "STOREDRV.Deliver.Exception:AccountDisabledException.MapiExceptionMailboxDisabled;"
     " Failed to process message due to a permanent exception"},
    {DEAD, NO, 550, "5.1.351",
     "Remote server returned unknown recipient or mailbox unavailable -> 550"
     " no such user here"},
    {DEAD, NO, 550, "5.4.310",
     "DNS domain example.invalid does not exist"
     " [Message=InfoDomainNonexistent]"},
    {DEAD, NO, 0, "5.1.1",
     "The e-mail account does not exist at the organization this message was"
     " sent to. Check the e-mail address, or contact the recipient directly"
     " to find out the correct address."},
    {DEAD, NO, 0, "",
     "The recipient's e-mail address was not found in the recipient's e-mail"
     " system. Microsoft Exchange will not try to redeliver this message for"
     " you. Please check the e-mail address and try resending this message."},
    {DEAD, NO, 0, "",
     "The recipient name is not recognized MSEXCH:IMS:Example:EXAMPLE:MAIL1"
     " 0 (000C05A6) Unknown Recipient"},
    {SENDER, NO, 550, "5.7.1", "RESOLVER.RST.AuthRequired; authentication required"},
    {SENDER, NO, 550, "5.7.1", "RESOLVER.RST.NotAuthorized; not authorized"},
    {SENDER, RCPT, 550, "5.7.133",
     "RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required;"
     " Delivery restriction check failed because the sender was not"
     " authenticated when sending to this group"},
    {SENDER, RCPT, 550, "5.7.124", "Sender not in allowed-senders list"},
    {SENDER, NO, 550, "5.7.129",
     "RESOLVER.RST.RestrictedToRecipientsPermission; not authorized to send"
     " to recipient because the recipient only accepts messages from certain"
     " senders"},
    {SENDER, NO, 550, "5.2.3",
     "RESOLVER.RST.RecipSizeLimit; message too large for this recipient"},
    {SENDER, NO, 550, "5.3.4",
     "ROUTING.SizeLimit; message size exceeds fixed maximum size for route"},
    {FULL, NO, 554, "5.2.2",
     "STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded;"
     " Failed to process message due to a permanent exception"},
    {FULL, NO, 554, "5.2.2",
     "mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException"},
    {FULL, RCPT, 552, "5.2.2",
     "This message is larger than the current system limit or the"
     " recipient's mailbox is full. Create a shorter message body or remove"
     " attachments and try sending it again."},
    {SENDER, RCPT, 550, "5.7.606",
     "Access denied, banned sending IP [192.0.2.1]. To request removal from"
     " this list please visit https://sender.office.com/"},
    {SENDER, CONNECT, 550, "5.7.708",
     "Service unavailable. Access denied, traffic not accepted from this IP."
     " For more information please go to"
     " http://go.microsoft.com/fwlink/?LinkId=526653"},
    {SENDER, DOT, 550, "5.7.1", "Message rejected as spam by Content Filtering."},
    {SENDER, DOT, 550, "5.7.515",
     "Access denied, sending domain EXAMPLE.NET does not meet the required"
     " authentication level. The sender's domain in the 5322.From address"
     " doesn't meet the authentication requirements defined for the sender."},
    {SENDER, DOT, 550, "5.7.509",
     "Access denied, sending domain EXAMPLE.NET does not pass DMARC"
     " verification and has a DMARC policy of reject."},
    {TEMPORARY, NO, 550, "4.4.7", "QUEUE.Expired; message expired"},
    {TEMPORARY, NO, 0, "4.4.7",
     "The message could not be delivered because it has been in the queue"
     " too long; delivery time expired"},
    {TEMPORARY, NO, 550, "5.4.14", "Hop count exceeded - possible mail loop ATTR34"},
    {TEMPORARY, RCPT, 451, "4.7.500",
     "Server busy. Please try again later from [192.0.2.1]. (S77719)"},
    {TEMPORARY, RCPT, 452, "4.3.1", "Insufficient system resources"},
    {TEMPORARY, RCPT, 432, "4.3.2",
     "STOREDRV.Deliver; recipient thread limit exceeded"},
    {SENDER, MAIL, 501, "5.1.8", "Access denied, bad outbound sender AS(42003)"},
    {DEAD, RCPT, 554, "",
     "delivery error: dd This user doesn't have a yahoo.com account"
     " (eva@yahoo.com) [0] - mta1234.mail.bf1.yahoo.com"},
    {DEAD, RCPT, 554, "",
     "delivery error: dd Sorry your message to eva@yahoo.com cannot be"
     " delivered. This account has been disabled or discontinued [#101]. -"
     " mta1.mail.ne1.yahoo.com"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@aol.com>: Recipient address rejected: aol.com"},
    {DEAD, RCPT, 550, "",
     "550 eva@aol.com IS NOT ACCEPTING MAIL FROM THIS SENDER? - MAILBOX NOT"
     " FOUND"},
    {DEAD, RCPT, 552, "1", "Requested mail action aborted, mailbox not found"},
    {SENDER, CONNECT, 421, "4.7.0",
     "[TSS04] Messages from 192.0.2.1 temporarily deferred due to user"
     " complaints - 4.16.55.1; see"
     " https://postmaster.yahooinc.com/error-codes"},
    {SENDER, DOT, 554, "5.7.9",
     "Message not accepted for policy reasons. See"
     " https://postmaster.yahooinc.com/error-codes"},
    {SENDER, CONNECT, 553, "5.7.1",
     "[BL21] Connections will not be accepted from 192.0.2.1, because the ip"
     " is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html"},
    {FULL, RCPT, 552, "5.2.2",
     "eva@yahoo.com: user is over quota. Sorry, your message cannot be"
     " delivered."},
    {TEMPORARY, RCPT, 451, "4.3.2", "Internal error reading data"},
    {DEAD, RCPT, 550, "5.7.1", "No such user!"},
    {DEAD, RCPT, 550, "5.1.1", "No such user! 1597923015-Xj3kQ0"},
    {DEAD, RCPT, 550, "5.7.1", "Policy rejection on the target address"},
    {SENDER, DOT, 554, "5.7.1",
     "[1] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc"
     " 1590417000-abc"},
    {FULL, RCPT, 452, "4.2.2", "Mailbox size limit exceeded 1590417000-Xyz"},
    {DEAD, RCPT, 550, "5.1.1",
     "<eva@example.com>: User does not exist in our domain, please check"
     " (zoho)"},
    {DEAD, RCPT, 541, "5.4.1",
     "Mail rejected by destination domain: invalid recipient"},
    {DEAD, NO, 550, "5.1.1",
     "Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1"
     " <eva@example.com>... User Unknown"},
    {FULL, RCPT, 552, "",
     "Your message to <eva@zohomail.com> failed: Mailbox quota of the"
     " recipient exceeded"},
    {DEAD, RCPT, 550, "",
     "Mailbox not found."
     " http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000728"},
    {DEAD, RCPT, 550, "",
     "The recipient may contain a non-existent account, please check the"
     " recipient address. https://open.work.weixin.qq.com/help2/pc/20029"},
    {DEAD, RCPT, 550, "",
     "Mailbox unavailable or access denied [a1b2c3 IP: 192.0.2.1]."
     " https://service.mail.qq.com/detail/0/71"},
    {SENDER, DOT, 550, "",
     "Mail content denied."
     " http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000726"},
    {SENDER, CONNECT, 550, "",
     "Connection frequency limited."
     " http://service.mail.qq.com/cgi-bin/help?subtype=1&&no=1000722"},
    {SENDER, MAIL, 550, "",
     "Domain may not exist or DNS check failed. http://service.mail.qq.com/"},
    {FULL, RCPT, 550, "", "Mailbox space is not enough: the user's mailbox is full"},
    {DEAD, RCPT, 550, "", "User not found: eva@163.com"},
    {DEAD, RCPT, 550, "", "User suspended: eva@163.com"},
    {DEAD, RCPT, 550, "", "Invalid User: eva@126.com"},
    {SENDER, DOT, 554, "",
     "DT:SPM 163 smtp5,D9GowACXnT5V,1449 1590417000"
     " http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.1"},
    {SENDER, DOT, 550, "", "RP:TRC 163 mx1, http://mail.163.com/help/help_spam_16.htm"},
    {SENDER, CONNECT, 554, "", "IP<192.0.2.1> in blacklist"},
    {SENDER, RCPT, 553, "",
     "Requested action not taken: NO authentication from domain"},
    {FULL, RCPT, 552, "",
     "Requested mail action aborted: exceeded storage allocation, mailbox of"
     " eva@yeah.net full"},
    {DEAD, RCPT, 550, "",
     "Requested action not taken: mailbox unavailable For explanation visit"
     " https://postmaster.gmx.net/en/error-messages?ip=192.0.2.1&c=hi"},
    {DEAD, RCPT, 550, "5.1.1",
     "Requested action not taken: mailbox unavailable (web.de)"},
    {SENDER, CONNECT, 554, "",
     "No SMTP service IP address is black listed. For explanation visit"
     " https://postmaster.web.de/error-messages"},
    {SENDER, DOT, 554, "",
     "Transaction failed Reject due to policy restrictions. For explanation"
     " visit https://postmaster.gmx.net/en/case?c=r0103"},
    {SENDER, MAIL, 550, "",
     "Requested action not taken: mailbox unavailable invalid DNS MX or"
     " A/AAAA resource record. For explanation visit"
     " http://postmaster.gmx.com"},
    {FULL, NO, 552, "",
     "Requested mail action aborted: exceeded storage allocation. Quota"
     " exceeded. The recipient's mailbox is full."},
    {SENDER, NO, 552, "",
     "Mail size limit exceeded. For explanation visit"
     " http://postmaster.1and1.com/en/error-messages"},
    {SENDER, CONNECT, 421, "",
     "kundenserver.de Service not available: too many connections from your"
     " IP"},
    {DEAD, RCPT, 550, "", "Unknown user (T-Online)"},
    {DEAD, RCPT, 550, "5.1.1", "Empfaenger unbekannt / user unknown"},
    {SENDER, CONNECT, 554, "",
     "IP=192.0.2.1 - A problem occurred. Ask your postmaster for help or to"
     " contact tosa@rx.t-online.de to clarify. (BL)"},
    {SENDER, DOT, 550, "5.7.0", "Message considered as spam or virus, rejected"},
    {DEAD, RCPT, 550, "",
     "<eva@free.fr>: Recipient address rejected: User unknown in relay"
     " recipient table"},
    {DEAD, RCPT, 550, "5.2.1", "This mailbox has been blocked due to inactivity"},
    {DEAD, RCPT, 550, "5.1.1",
     "Adresse d au moins un destinataire invalide. Invalid recipient."
     " OFR_416 [416]"},
    {SENDER, CONNECT, 421, "",
     "Too many spams from your IP (192.0.2.1), please visit"
     " http://postmaster.free.fr/"},
    {DEAD, RCPT, 550, "5.1.1", "Not our Customer"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@comcast.net> Account not available"},
    {FULL, RCPT, 552, "5.2.2", "<eva@comcast.net> Account Over Quota"},
    {SENDER, CONNECT, 554, "",
     "resimta-po-01v.sys.comcast.net resimta 192.0.2.1 found on one or more"
     " DNSBLs, see"
     " http://postmaster.comcast.net/smtp-error-codes.php#BL000001"},
    {SENDER, CONNECT, 421, "4.1.0",
     "192.0.2.1 Throttled - try again later. Please see"
     " http://postmaster.comcast.net/smtp-error-codes.php#RL000003"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@cox.net> recipient rejected"},
    {SENDER, CONNECT, 554, "",
     "cxr.smtp.a.cloudfilter.net cox 192.0.2.1 blocked by RBL. Refer to"
     " Error Codes section at"
     " https://www.cox.com/residential/support/email-error-codes.html"
     " AUP#CXRBL"},
    {SENDER, DOT, 552, "5.2.0", "cox AUP#CXMJ1 message rejected as spam"},
    {DEAD, RCPT, 553, "5.3.0",
     "flpd575 eva@att.net... Addressee unknown, relay=[192.0.2.1]"},
    {SENDER, CONNECT, 553, "5.3.0",
     "alpd757 DNSBL:RBL 521< 192.0.2.1 >_is_blocked.For assistance forward"
     " this error to abuse_rbl@abuse-att.net"},
    {SENDER, CONNECT, 550, "", "relay from prohibited; Fix reverse DNS for 192.0.2.1"},
    {DEAD, RCPT, 550, "5.1.1", "unknown or illegal alias: eva@verizon.net"},
    {DEAD, RCPT, 550, "4.2.1", "mailbox disabled: eva@verizon.net"},
    {SENDER, CONNECT, 571, "",
     "Email from 192.0.2.1 is currently blocked by Verizon Online's"
     " anti-spam system."},
    {DEAD, RCPT, 550, "5.1.1", "<eva@charter.net> recipient rejected"},
    {SENDER, DOT, 554, "",
     "ERROR: Mail Refused - See"
     " https://www.spectrum.net/support/internet/aup-in-2130"},
    {SENDER, CONNECT, 554, "",
     "E3110 - Connection refused: 192.0.2.1 does not have a valid PTR"
     " record, Charter requires that all mail servers have a PTR record with"
     " a valid Reverse DNS entry"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@icloud.com>: user does not exist"},
    {DEAD, RCPT, 550, "5.1.6", "recipient no longer on server: eva@me.com"},
    {DEAD, RCPT, 550, "5.1.1", "unknown or illegal alias: eva@mac.com"},
    {FULL, RCPT, 552, "5.2.2", "<eva@icloud.com>: user is over quota"},
    {SENDER, DOT, 554, "5.7.1",
     "[HM08] Message rejected due to local policy. Please visit"
     " https://support.apple.com/en-us/HT204137"},
    {SENDER, DOT, 550, "5.7.1", "[CS01] Message rejected due to local policy."},
    {DEAD, RCPT, 550, "5.1.1", "User Unknown (proofpoint)"},
    {DEAD, RCPT, 550, "5.1.1",
     "<eva@example.com> invalid address - sender or recipient directory"
     " check failed"},
    {SENDER, CONNECT, 554, "",
     "Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1"},
    {SENDER, DOT, 554, "5.7.0", "Local Policy Violation"},
    {SENDER, CONNECT, 421, "4.7.1",
     "Service unavailable; Client host [192.0.2.1] blocked using pdr;"
     " throttled"},
    {DEAD, RCPT, 550, "",
     "Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550"
     " [abcDEF]"},
    {DEAD, RCPT, 550, "",
     "Rejected by recipient validation: Unknown recipient -"
     " https://community.mimecast.com/docs/DOC-1369#550"},
    {SENDER, RCPT, 550, "",
     "Administrative prohibition - envelope blocked -"
     " https://community.mimecast.com/docs/DOC-1369"},
    {SENDER, RCPT, 550, "",
     "Rejected by header based manually Blocked Senders -"
     " https://community.mimecast.com/docs/DOC-1369#550"},
    {TEMPORARY, RCPT, 451, "",
     "Internal resources are temporarily unavailable -"
     " https://community.mimecast.com/docs/DOC-1369#451 [greylist]"},
    {DEAD, RCPT, 550, "",
     "permanent failure for one or more recipients (eva@example.com:550"
     " 5.1.1 unknown recipient)"},
    {DEAD, RCPT, 550, "",
     "<eva@example.com>: Recipient address rejected: No such user"
     " (barracuda)"},
    {SENDER, CONNECT, 554, "",
     "Service unavailable; Client host [mx.example.net] blocked using"
     " Barracuda Reputation;"
     " http://www.barracudanetworks.com/reputation/?r=1&ip=192.0.2.1"},
    {SENDER, DOT, 554, "5.7.1", "rejected due to spam content"},
    {DEAD, RCPT, 550, "5.1.0", "#5.1.0 Address rejected."},
    {DEAD, RCPT, 550, "5.1.0", "#5.1.0 Address rejected eva@example.com"},
    {SENDER, CONNECT, 554, "",
     "554-mx1.example.com 554 Your access to this mail system has been"
     " rejected due to the sending MTA's poor reputation. If you believe"
     " that this failure is in error, please contact the intended recipient"
     " via alternate means."},
    {SENDER, CONNECT, 421, "", "#4.4.5 Too many connections to this host."},
    {DEAD, RCPT, 550, "5.1.1", "Invalid recipient <eva@example.com> (#5.1.1)"},
    {DEAD, RCPT, 553, "5.1.1",
     "sorry, no mailbox here by that name (#5.1.1 - MessageLabs)"},
    {SENDER, RCPT, 553, "5.7.1",
     "sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"},
    {SENDER, CONNECT, 501, "",
     "Connection rejected by policy [7.7] 20316, please visit"
     " www.messagelabs.com/support for more details about this error"
     " message."},
    {DEAD, RCPT, 550, "",
     "Recipient <eva@example.com> is not found in the directory. (InterScan)"},
    {SENDER, DOT, 550, "5.7.1",
     "Message content not accepted by Trend Micro InterScan: attachment name"
     " matches the blocking rule"},
    {SENDER, CONNECT, 550, "5.7.1",
     "Mail from 192.0.2.1 refused by Trend Micro Email Reputation Services"},
    {DEAD, RCPT, 550, "", "Denied by policy: no such user <eva@example.com> here"},
    {DEAD, RCPT, 550, "", "User unknown; rejecting (McAfee SaaS: mode normal)"},
    {SENDER, DOT, 554, "", "Denied [CS] [3f1a] (Mode: normal) spam score too high"},
    {DEAD, RCPT, 550, "",
     "Rejected: eva@example.com: unknown recipient, MailMarshal directory"
     " harvesting prevention"},
    {SENDER, DOT, 550, "5.7.1", "Blocked by MailMarshal content rule"},
    {DEAD, RCPT, 550, "", "eva@example.com... No such user (SurfControl)"},
    {DEAD, RCPT, 550, "5.1.1", "unknown user <eva@example.jp> (mFILTER)"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@example.com>... User unknown"},
    {DEAD, RCPT, 550, "", "<eva@example.com>... User unknown"},
    {DEAD, NO, 550, "5.1.2",
     "<eva@nosuch.example>... Host unknown (Name server: nosuch.example.:"
     " host not found)"},
    {DEAD, NO, 550, "", "Host unknown"},
    {DEAD, RCPT, 551, "",
     "<eva@example.com>... User not local; please try <eva@example.net>"},
    {DEAD, RCPT, 551, "5.1.6",
     "<eva@example.com>... User has moved; please try <eva@example.net>"},
    {SENDER, RCPT, 550, "5.7.1",
     "<eva@example.com>... Relaying denied. Proper authentication required."},
    {SENDER, RCPT, 550, "5.7.1",
     "<eva@example.com>... Relaying denied. IP name lookup failed"
     " [192.0.2.1]"},
    {SENDER, MAIL, 553, "5.1.8",
     "<list@example.net>... Domain of sender address list@example.net does"
     " not exist"},
    {SENDER, MAIL, 553, "5.5.4",
     "<list>... Domain name required for sender address list"},
    {FULL, DOT, 552, "5.2.2", "Mailbox full: local disk quota of eva exceeded"},
    {TEMPORARY, RCPT, 452, "4.4.5", "Insufficient disk space; try again later"},
    {SENDER, MAIL, 552, "5.3.4",
     "Message size exceeds fixed maximum message size (10485760)"},
    {TEMPORARY, NO, 0, "", "Deferred: Connection timed out with mx.example.com."},
    {TEMPORARY, NO, 0, "5.3.5", "config error: mail loops back to me (MX problem?)"},
    {DEAD, RCPT, 550, "", "User unknown (in V5: Recipient names must be specified)"},
    {DEAD, RCPT, 511, "5.1.1",
     "sorry, no mailbox here by that name (#5.1.1 - chkuser)"},
    {DEAD, RCPT, 511, "5.1.1",
     "sorry, recipient domain does not exist (#5.1.1 - chkuser)"},
    {SENDER, MAIL, 511, "5.1.8",
     "sorry, can't find a valid MX for sender domain (#5.1.8 - chkuser)"},
    {FULL, RCPT, 552, "5.2.2",
     "sorry, recipient mailbox is over quota (#5.2.2 - chkuser)"},
    {SENDER, RCPT, 571, "5.7.1",
     "sorry, you are violating our security policies (#5.7.1 - chkuser)"},
    {DEAD, NO, 0, "5.1.1", "Sorry, no mailbox here by that name. vpopmail (#5.1.1)"},
    {DEAD, NO, 0, "5.1.1", "This address no longer accepts mail. (#5.1.1)"},
    {DEAD, NO, 0, "5.1.2",
     "Sorry, I couldn't find any host named nosuch.example. (#5.1.2)"},
    {DEAD, NO, 0, "5.4.4",
     "Sorry. Although I'm listed as a best-preference MX or A for that host,"
     " it isn't in my control/locals file, so I don't treat it as local."
     " (#5.4.6)"},
    {DEAD, RCPT, 553, "", "Sorry, no user by that name on this domain (#5.1.1)"},
    {DEAD, RCPT, 550, "", "Sorry, no mailbox by that name here (qmail-ldap)"},
    {FULL, NO, 0, "5.2.2",
     "Recipient's mailbox is full, message returned to sender. (#5.2.2)"},
    {DEAD, NO, 0, "5.2.1",
     "The users mailfolder is disabled: Mailaddress is administrative"
     " disabled. (#5.2.1)"},
    {TEMPORARY, NO, 0, "4.4.3",
     "CNAME lookup failed temporarily. (#4.4.3) I'm not going to try again;"
     " this message has been in the queue too long."},
    {TEMPORARY, NO, 0, "4.4.1",
     "Sorry, I wasn't able to establish an SMTP connection. (#4.4.1) I'm not"
     " going to try again; this message has been in the queue too long."},
    {DEAD, RCPT, 550, "5.1.1",
     "<eva@example.com>: Recipient address rejected: User unknown in virtual"
     " mailbox table"},
    {DEAD, RCPT, 550, "5.1.1",
     "<eva@example.com>: Recipient address rejected: User unknown in local"
     " recipient table"},
    {DEAD, RCPT, 550, "5.1.1",
     "<eva@example.com>: Recipient address rejected: undeliverable address:"
     " host mail.example.com[192.0.2.1] said: 550 5.1.1 unknown user (in"
     " reply to RCPT TO command)"},
    {DEAD, NO, 0, "5.4.4",
     "Host or domain name not found. Name service error for"
     " name=nosuch.example type=AAAA: Host not found"},
    {DEAD, NO, 0, "5.1.0", "Domain example.com does not accept mail (nullMX)"},
    {TEMPORARY, NO, 0, "4.4.3",
     "Host or domain name not found. Name service error for name=example.com"
     " type=MX: Host not found, try again"},
    {TEMPORARY, RCPT, 450, "4.1.1",
     "<eva@example.com>: Recipient address rejected: unverified address:"
     " Address verification in progress"},
    {SENDER, RCPT, 554, "5.7.1", "<eva@example.com>: Relay access denied"},
    {SENDER, RCPT, 450, "4.7.25",
     "Client host rejected: cannot find your hostname, [192.0.2.1]"},
    {SENDER, RCPT, 504, "5.5.2",
     "<mail>: Helo command rejected: need fully-qualified hostname"},
    {SENDER, RCPT, 450, "4.1.8",
     "<list@example.net>: Sender address rejected: Domain not found"},
    {SENDER, RCPT, 553, "5.7.1",
     "<list@example.net>: Sender address rejected: not owned by user"},
    {SENDER, RCPT, 554, "5.7.1",
     "Service unavailable; Client host [192.0.2.1] blocked using"
     " zen.spamhaus.org"},
    {TEMPORARY, RCPT, 450, "4.2.0",
     "<eva@example.com>: Recipient address rejected: Greylisted, see"
     " http://postgrey.schweikert.ch/help/example.com.html"},
    {DEAD, RCPT, 550, "", "Unrouteable address"},
    {DEAD, RCPT, 550, "", "Unknown user"},
    {DEAD, RCPT, 550, "",
     "Unrouteable address: all relevant MX records point to non-existent"
     " hosts"},
    {DEAD, NO, 0, "", "an MX or SRV record indicated no SMTP service"},
    {DEAD, NO, 0, "", "Unrouteable address"},
    {TEMPORARY, NO, 0, "", "retry timeout exceeded"},
    {TEMPORARY, RCPT, 451, "", "Temporary local problem - please try later"},
    {SENDER, RCPT, 550, "", "relay not permitted"},
    {SENDER, RCPT, 550, "", "Sender verify failed"},
    {SENDER, DOT, 550, "", "This message scored 12.3 spam points"},
    {FULL, NO, 0, "",
     "mailbox is full (MTA-imposed quota exceeded while writing to file"
     " /var/mail/eva)"},
    {DEAD, RCPT, 550, "5.1.1", "Invalid recipient: <eva@example.com>"},
    {DEAD, RCPT, 524, "5.2.4", "Mailing list expansion problem: eva no longer exists"},
    {TEMPORARY, RCPT, 421, "4.3.0", "Temporary Error"},
    {DEAD, RCPT, 513, "5.1.1",
     "Relaying denied: user eva unknown on this host (Courier)"},
    {DEAD, RCPT, 550, "", "User <eva@example.com> unknown"},
    {FULL, RCPT, 550, "",
     "User <eva@example.com> has exceeded the quota for mail, quota exceeded"},
    {DEAD, RCPT, 550, "", "I cannot deliver mail for nonexistent user eva"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@example.com> User doesn't exist: eva@example.com"},
    {FULL, RCPT, 552, "5.2.2",
     "<eva@example.com> Quota exceeded (mailbox for user is full)"},
    {DEAD, RCPT, 550, "5.1.1",
     "Mailbox unknown. Either there is no mailbox associated with this name"
     " or you do not have authorization to see it. User unknown"},
    {DEAD, RCPT, 550, "5.1.1", "User unknown <eva@example.com> (Kerio)"},
    {DEAD, RCPT, 550, "", "eva@example.com, Recipient unknown"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@example.com>, No such user here"},
    {FULL, RCPT, 452, "", "eva@example.com mailbox has exceeded its storage limit"},
    {DEAD, NO, 0, "", "Unknown user: eva@example.com"},
    {FULL, NO, 0, "", "User mailbox exceeds allowed size: eva@example.com"},
    {DEAD, RCPT, 550, "",
     "not local host example.com, not a gateway: unknown user eva"},
    {DEAD, NO, 0, "",
     "The message that you sent was undeliverable to the following: eva"
     " (user not found)"},
    {DEAD, NO, 0, "", "User eva (eva@example.com) not listed in Domino Directory"},
    {DEAD, NO, 0, "",
     "Recipient user name eva@example.com not unique or not found. No match"
     " found in Name & Address Book"},
    {SENDER, NO, 0, "",
     "Error delivering to NOTES1/ACME; mail file too large for server"
     " policy: message size exceeds the limit"},
    {FULL, NO, 0, "",
     "Unable to deliver message because the recipient's mail file has"
     " reached its maximum disk quota; quota exceeded"},
    {DEAD, RCPT, 550, "5.1.1", "unknown or illegal alias: eva@example.com"},
    {DEAD, NO, 0, "5.1.2", "Illegal host/domain name found"},
    {DEAD, NO, 0, "5.1.1", "unknown or illegal user: eva@example.com"},
    {FULL, NO, 0, "5.2.2",
     "Over quota (Sun Messaging Server: user has exceeded the mailbox quota)"},
    {DEAD, RCPT, 550, "", "eva@example.com unknown user account"},
    {FULL, RCPT, 552, "", "account is full (quota exceeded)"},
    {DEAD, RCPT, 550, "", "account eva is not available: it has been closed"},
    {DEAD, NO, 550, "5.1.1", "Unknown user: eva@example.com (Apache James)"},
    {DEAD, NO, 0, "5.1.1", "Error message: 550 unknown user"},
    {DEAD, RCPT, 550, "", "Unknown user"},
    {DEAD, RCPT, 550, "",
     "Delivery is not allowed to this address: no such account (hMailServer)"},
    {SENDER, RCPT, 530, "", "SMTP authentication is required."},
    {FULL, RCPT, 550, "5.2.2",
     "Your message was received but it could not be saved. The quota limit"
     " was exceeded."},
    {DEAD, RCPT, 550, "", "Unknown user eva@docomo.ne.jp"},
    {UNKNOWN, DOT, 550, "", "Unknown user eva@docomo.ne.jp"},
    {UNKNOWN, DOT, 550, "", "<eva@softbank.ne.jp>: User unknown"},
    {DEAD, RCPT, 550, "", "<eva@ezweb.ne.jp>: User unknown"},
    {DEAD, RCPT, 550, "", "Invalid recipient: <eva@softbank.ne.jp>"},
    {SENDER, CONNECT, 421, "", "Too many connections (docomo)"},
    {DEAD, NO, 0, "", "The user(s) account is disabled."},
    {DEAD, NO, 0, "", "Mail address is not registered: eva@biglobe.ne.jp"},
    {FULL, NO, 0, "",
     "The number of messages in recipient's mailbox exceeded the local"
     " limit."},
    {FULL, NO, 0, "",
     "Message is not delivered: the disk quota of the recipient is exceeded"},
    {DEAD, RCPT, 550, "", "Benutzer unbekannt"},
    {DEAD, RCPT, 550, "", "Empfänger nicht gefunden: eva@example.de"},
    {DEAD, NO, 0, "", "Die E-Mail-Adresse eva@example.de existiert nicht."},
    {DEAD, NO, 0, "", "Die angegebene Adresse wurde nicht gefunden"},
    {DEAD, RCPT, 550, "", "Konto deaktiviert"},
    {FULL, RCPT, 552, "", "Postfach voll"},
    {FULL, NO, 0, "",
     "Das Postfach des Empfängers hat das Speicherlimit erreicht,"
     " Speicherplatz überschritten"},
    {DEAD, RCPT, 550, "", "Utilisateur inconnu"},
    {DEAD, RCPT, 550, "", "Adresse inexistante"},
    {DEAD, NO, 0, "",
     "L'adresse e-mail que vous avez saisie est introuvable dans ce domaine"},
    {DEAD, RCPT, 550, "", "Ce compte n'existe pas"},
    {DEAD, RCPT, 550, "", "Compte désactivé"},
    {FULL, RCPT, 552, "", "La boîte aux lettres du destinataire est pleine"},
    {DEAD, RCPT, 550, "", "Usuario desconocido"},
    {DEAD, RCPT, 550, "", "La dirección de correo no existe"},
    {DEAD, NO, 0, "", "No se encontró el destinatario en el sistema"},
    {DEAD, RCPT, 550, "", "La cuenta está deshabilitada"},
    {FULL, RCPT, 552, "", "El buzón del destinatario está lleno"},
    {DEAD, RCPT, 550, "", "Utente sconosciuto"},
    {DEAD, RCPT, 550, "", "Casella inesistente"},
    {DEAD, RCPT, 550, "", "L'indirizzo non esiste"},
    {DEAD, NO, 0, "", "Utente non trovato"},
    {FULL, RCPT, 552, "", "La casella del destinatario è piena"},
    {DEAD, RCPT, 550, "", "Usuário não encontrado"},
    {DEAD, RCPT, 550, "", "Destinatário inexistente"},
    {DEAD, NO, 0, "", "O endereço de e-mail não existe"},
    {DEAD, RCPT, 550, "", "Conta desativada"},
    {FULL, RCPT, 552, "", "A caixa de correio do destinatário está cheia"},
    {DEAD, RCPT, 550, "", "Gebruiker onbekend"},
    {DEAD, RCPT, 550, "", "Adres bestaat niet"},
    {FULL, RCPT, 552, "", "De mailbox van de ontvanger is vol"},
    {DEAD, RCPT, 550, "", "Nieznany użytkownik"},
    {DEAD, RCPT, 550, "", "Nie ma takiego konta"},
    {DEAD, RCPT, 550, "", "Adres nie istnieje"},
    {FULL, RCPT, 552, "", "Skrzynka odbiorcy jest przepełniona"},
    {DEAD, RCPT, 550, "", "Нет такого пользователя"},
    {DEAD, RCPT, 550, "", "Пользователь не найден"},
    {DEAD, RCPT, 550, "", "Почтовый ящик не существует"},
    {DEAD, NO, 0, "", "Такого адреса не существует"},
    {TEMPORARY, RCPT, 550, "", "Учетная запись заблокирована"},
    {FULL, RCPT, 552, "", "Почтовый ящик переполнен"},
    {DEAD, RCPT, 550, "", "宛先のメールアドレスは存在しません"},
    {DEAD, NO, 0, "", "指定されたユーザーが見つかりませんでした"},
    {DEAD, NO, 0, "", "メールアドレスが見つかりません"},
    {FULL, NO, 0, "", "受信者のメールボックスがいっぱいです"},
    {DEAD, RCPT, 550, "", "收件人不存在"},
    {DEAD, RCPT, 550, "", "无此用户"},
    {DEAD, NO, 0, "", "收件人邮件地址不存在,邮件无法送达"},
    {DEAD, RCPT, 550, "", "帐户已停用"},
    {FULL, RCPT, 552, "", "收件人邮箱已满"},
    {FULL, RCPT, 552, "", "收件人郵箱容量不足"},
    {DEAD, RCPT, 550, "5.1.1",
     "Recipient rejected, mailbox does not exist (cloudmark)"},
    {DEAD, RCPT, 550, "", "No account by that name here"},
    {DEAD, RCPT, 550, "5.1.1", "Account does not exist on this server"},
    {DEAD, RCPT, 550, "", "unknown address <eva@example.com>"},
    {DEAD, RCPT, 550, "", "There is no one here called eva"},
    {DEAD, RCPT, 550, "5.1.1",
     "The mail address you specified was not found in this system"},
    {DEAD, RCPT, 551, "", "User is not local"},
    {DEAD, RCPT, 550, "", "mailbox eva not found"},
    {DEAD, RCPT, 550, "", "Mailbox <eva@example.com> does not exist"},
    {DEAD, RCPT, 550, "5.1.1", "Bad destination mailbox address"},
    {DEAD, RCPT, 550, "", "Address unknown in this domain"},
    {DEAD, RCPT, 550, "5.1.1", "<eva@example.com> is not a valid mailbox"},
    {DEAD, RCPT, 550, "5.2.1",
     "The email account that you tried to reach is disabled."},
    {DEAD, RCPT, 554, "5.2.1", "Account has been suspended by its owner"},
    {DEAD, RCPT, 550, "", "eva@example.com no such address here"},
    {DEAD, RCPT, 550, "", "This address is no longer in use"},
    {DEAD, RCPT, 550, "", "Cette adresse n'existe pas"},
    {DEAD, RCPT, 550, "", "Benutzer existiert nicht"},
    {DEAD, RCPT, 550, "", "Destinatario desconocido"},
    {DEAD, RCPT, 550, "", "El buzón no existe"},
    {DEAD, RCPT, 550, "", "Usuário inexistente"},
    {DEAD, RCPT, 550, "", "Użytkownik nie istnieje"},
    {DEAD, RCPT, 550, "", "Адресат не найден"},
    {DEAD, RCPT, 550, "", "找不到收件人"},
    {DEAD, RCPT, 550, "", "Почтовый ящик отключен"},
    {DEAD, NO, 550, "", "Invalid mailbox: eva@example.com"},
    {DEAD, NO, 0, "5.1.1", "Bad mailbox name"},
    {DEAD, NO, 0, "5.1.2", "Unknown domain nosuch.example"},
    {DEAD, NO, 0, "", "The domain nosuch.example could not be found in DNS (NXDOMAIN)"},
    {DEAD, NO, 0, "", "Recipient address eva@example.com is unknown"},
    {DEAD, NO, 0, "", "eva@example.com: no such account at this address"},
    {DEAD, RCPT, 554, "5.7.1", "eva@example.com: User unknown in local directory"},
    {DEAD, RCPT, 550, "", "Recipient not found in LDAP"},
    {DEAD, RCPT, 550, "", "User account is closed"},
    {DEAD, RCPT, 550, "", "Account expired"},
    {FULL, RCPT, 552, "", "Mailbox is full"},
    {FULL, RCPT, 552, "5.2.2", "Benutzerpostfach ist voll"},
    {FULL, RCPT, 550, "", "user eva has too many messages, mailbox over quota"},
    {FULL, NO, 0, "", "The recipient's inbox is full and cannot accept messages now"},
    {TEMPORARY, RCPT, 451, "", "Requested action aborted: local error in processing"},
    {TEMPORARY, RCPT, 450, "4.7.1",
     "Greylisting in action, please come back in 300 seconds"},
    {TEMPORARY, NO, 0, "4.4.1", "No answer from host"},
    {TEMPORARY, NO, 0, "", "Connection to mx.example.com refused"},
    {TEMPORARY, RCPT, 450, "4.2.1",
     "The user you are trying to contact is receiving mail at a rate that"
     " prevents additional messages from being delivered"},
    {TEMPORARY, NO, 0, "5.3.0", "unknown mailer error 1"},
    {TEMPORARY, NO, 0, "4.3.0", "local configuration error"},
    {TEMPORARY, NO, 0, "5.3.5", "Local configuration error"},
    {TEMPORARY, NO, 0, "", "Can't create output file for the mailbox of eva"},
    {TEMPORARY, RCPT, 452, "", "Out of memory"},
    {TEMPORARY, RCPT, 421, "", "Service not available, closing transmission channel"},
    {TEMPORARY, RCPT, 451, "", "Could not verify recipient; try later"},
    {TEMPORARY, RCPT, 450, "",
     "recipient verification deferred: callout to backend timed out"},
    {FULL, RCPT, 550, "",
     "Mailbox for eva@example.com would exceed its maximum allowed storage"},
    {FULL, RCPT, 552, "",
     "Sorry, the user's maildir has overdrawn his diskspace quota, please"
     " try again later"},
    {FULL, RCPT, 550, "", "Quota violation for eva@example.com"},
    {DEAD, RCPT, 550, "", "RCPT TO:<eva@example.com> User not known"},
    {DEAD, RCPT, 554, "", "5.1.1 eva@example.com recipient unknown here"},
    {DEAD, RCPT, 550, "", "User has left the organisation"},
    {DEAD, RCPT, 550, "", "No local mailbox with that name"},
    {DEAD, RCPT, 550, "", "Recipient is not on this system"},
    {DEAD, NO, 550, "", "Address does not resolve to a user"},
    {DEAD, NO, 0, "", "Name not found in the directory: eva"},
    {DEAD, NO, 0, "5.1.6", "The user has moved to eva@new.example"},
    {DEAD, RCPT, 550, "", "Kein solcher Benutzer"},
    {DEAD, RCPT, 550, "", "Pas de boîte à ce nom"},
    {DEAD, RCPT, 550, "", "No existe el usuario"},
    {DEAD, RCPT, 550, "", "Indirizzo inesistente"},
};

/* Of live addresses, with words that refusals of dead ones have. */
static const struct refusal tempting[] = {
    {SENDER, DOT, 550, "5.7.1",
     "Message rejected: too many messages to user unknown addresses from"
     " your IP 192.0.2.1"},
    {SENDER, RCPT, 550, "5.7.1",
     "Your host has sent to too many nonexistent users; blocked for one hour"},
    {SENDER, RCPT, 421, "4.7.0", "Too many invalid recipients; connection closed"},
    {SENDER, RCPT, 421, "4.2.1", "Error: too many unknown recipients, slow down"},
    {SENDER, RCPT, 550, "5.1.1", "spam: rejected, sender blacklisted"},
    {SENDER, DOT, 550, "5.1.1", "Message identified as SPAM"},
    {SENDER, DOT, 550, "5.1.1", "<eva@example.com> rejected by spam filter"},
    {SENDER, RCPT, 550, "5.1.1", "Your IP 192.0.2.1 is listed at bl.spamcop.net"},
    {SENDER, MAIL, 550, "5.1.8", "Sender address does not exist"},
    {SENDER, MAIL, 553, "5.1.8", "Sender domain does not exist"},
    {SENDER, MAIL, 550, "", "The domain of the sender does not exist in DNS"},
    {SENDER, RCPT, 550, "",
     "Sender address <list@example.net> does not exist, callout failed"},
    {SENDER, RCPT, 550, "5.1.7", "The sender's mailbox does not exist at example.net"},
    {SENDER, RCPT, 550, "",
     "Verification failed for <list@example.net>: The mail server does not"
     " recognize list@example.net as a valid sender. Sender verify failed"},
    {SENDER, RCPT, 550, "",
     "sender verify fail for <list@example.net>: No Such User Here"},
    {SENDER, RCPT, 550, "5.7.1",
     "<list@example.net>: Sender address rejected: User unknown in virtual"
     " alias table"},
    {SENDER, RCPT, 550, "5.1.0",
     "<list@example.net>: Sender address rejected: unverified address: host"
     " said: 550 5.1.1 User unknown"},
    {SENDER, MAIL, 501, "5.1.7",
     "Invalid address: the return path is not a valid address"},
    {SENDER, MAIL, 550, "", "Return address unknown: list@example.net"},
    {SENDER, RCPT, 550, "", "unable to verify your sender address, mailbox not found"},
    {SENDER, DOT, 552, "5.3.4",
     "Message too large for this mailbox: the limit of the mailbox is 10 MB"},
    {SENDER, DOT, 552, "5.2.3",
     "Message size exceeds the maximum size allowed for the mailbox of the"
     " recipient"},
    {SENDER, RCPT, 552, "",
     "Message larger than the recipient's mailbox accepts (message too big)"},
    {SENDER, MAIL, 552, "5.3.4",
     "Message size exceeds size limit of the mailbox server"},
    {SENDER, DOT, 554, "5.6.0",
     "The message content is not valid: header address invalid"},
    {SENDER, DOT, 550, "5.6.0", "Message has an invalid address in the From: header"},
    {SENDER, DOT, 550, "",
     "Invalid address in To: header line; message rejected, RFC 5322 syntax"},
    {SENDER, DOT, 550, "",
     "Header sender address <> not accepted, no such user allowed in From:"
     " header"},
    {SENDER, DOT, 554, "5.7.1",
     "Message rejected: link to a domain that does not exist"},
    {SENDER, DOT, 554, "5.7.1",
     "body contains a URL of an inactive domain, rejected as spam"},
    {SENDER, DOT, 550, "5.7.26",
     "Unauthenticated email from example.net is not accepted due to domain's"
     " DMARC policy. Please contact the administrator of example.net domain"
     " if this was a legitimate mail. To learn about the DMARC initiative,"
     " go to https://support.google.com/mail/?p=DmarcRejection"},
    {SENDER, DOT, 550, "5.7.26",
     "This mail has been blocked because the sender is unauthenticated."
     " Gmail requires all senders to authenticate with either SPF or DKIM."},
    {SENDER, RCPT, 550, "5.7.23",
     "The message was rejected because of Sender Policy Framework violation"
     " -> 550 5.7.1 recipient rejected"},
    {SENDER, RCPT, 550, "5.7.1",
     "SPF unauthorized mail is prohibited: mailbox list@example.net not"
     " permitted to use 192.0.2.1"},
    {SENDER, RCPT, 550, "",
     "SPF check failed: no such host in the record of example.net"},
    {SENDER, CONNECT, 554, "", "no reverse DNS for 192.0.2.1: host not found"},
    {SENDER, CONNECT, 550, "", "Client host unknown: cannot find your hostname"},
    {SENDER, RCPT, 450, "4.7.1",
     "<mail.example.net>: Helo command rejected: Host not found"},
    {SENDER, RCPT, 550, "5.7.1", "Helo command rejected: Invalid name; does not exist"},
    {SENDER, EHLO, 550, "",
     "Access denied - Invalid HELO name, host unknown (See RFC2821 4.1.1.1)"},
    {SENDER, EHLO, 501, "", "Syntactically invalid HELO argument(s): unknown domain"},
    {SENDER, CONNECT, 554, "5.7.1",
     "Client host rejected: Access denied, unknown[192.0.2.1]"},
    {SENDER, CONNECT, 550, "", "connection from unknown host 192.0.2.1 refused"},
    {SENDER, RCPT, 554, "5.7.1",
     "<unknown[192.0.2.1]>: Client host rejected: Access denied"},
    {SENDER, RCPT, 550, "5.7.1", "Unable to relay for eva@example.com"},
    {SENDER, RCPT, 550, "5.7.54",
     "SMTP; Unable to relay recipient in non-accepted domain"},
    {SENDER, RCPT, 554, "5.7.1", "recipient domain not hosted here, relaying denied"},
    {SENDER, RCPT, 550, "",
     "relaying to <eva@example.com> prohibited by administrator: unknown"
     " client"},
    {SENDER, RCPT, 550, "5.7.1", "Relaying denied: we do not know your address"},
    {SENDER, RCPT, 550, "5.7.1", "You are not allowed to send to this mailbox"},
    {SENDER, RCPT, 550, "5.7.1",
     "<eva@example.com>: Recipient address rejected: sender not permitted to"
     " send to this list"},
    {SENDER, RCPT, 550, "5.7.2",
     "Only members of the list may post; your address is not a known member"},
    {SENDER, RCPT, 550, "5.7.1",
     "Access to this recipient is restricted; only authenticated users may"
     " send"},
    {SENDER, RCPT, 554, "5.7.1",
     "<eva@example.com>: Recipient address rejected: blocked by policy, see"
     " https://example.com/user-unknown"},
    {SENDER, RCPT, 550, "5.7.1",
     "<eva@example.com>: Recipient address rejected: your domain is"
     " blacklisted"},
    {SENDER, RCPT, 550, "5.7.0",
     "<eva@example.com>: Recipient address rejected: Please see SPF; no such"
     " sender host"},
    {SENDER, DOT, 550, "5.7.1",
     "Our system has detected that this message is likely unsolicited mail"
     " to an address unknown to you"},
    {SENDER, DOT, 550, "5.7.1",
     "Rejected by policy: \"user unknown\" phishing pattern in the subject"},
    {SENDER, DOT, 554, "5.7.1",
     "Message refused: text about a disabled account looks like phishing"},
    {SENDER, DOT, 550, "5.7.1",
     "Message rejected because it says that your account is suspended"
     " (phishing)"},
    {SENDER, DOT, 550, "", "Virus found: invoice for unknown recipient.zip"},
    {SENDER, DOT, 554, "",
     "Content rejected: attachment of a type that does not exist in our"
     " whitelist"},
    {SENDER, CONNECT, 421, "4.7.0",
     "Account of the sending host is disabled at our network for abuse"},
    {SENDER, MAIL, 550, "5.7.1",
     "Sender account list@example.net is disabled, message refused"},
    {SENDER, MAIL, 535, "5.7.8", "Authentication credentials invalid: user unknown"},
    {SENDER, MAIL, 535, "5.7.8", "Error: authentication failed: no such user"},
    {SENDER, MAIL, 530, "5.7.0",
     "Must issue a STARTTLS command first, user not authenticated"},
    {SENDER, RCPT, 550, "5.7.1", "Authentication required to send from unknown users"},
    {SENDER, RCPT, 421, "4.7.28",
     "Our system has detected an unusual rate of unsolicited mail; mailbox"
     " deliveries from your IP have been rate limited"},
    {SENDER, RCPT, 450, "4.7.1",
     "Error: too much mail from 192.0.2.1 to invalid mailboxes"},
    {SENDER, RCPT, 452, "4.5.3", "Too many recipients"},
    {SENDER, RCPT, 550, "5.5.3",
     "Too many recipients in this session; the address was not accepted"},
    {SENDER, RCPT, 550, "",
     "No such user allowed from this IP because of poor reputation"},
    {SENDER, RCPT, 554, "5.7.1",
     "Dynamic IP address 192.0.2.1 not accepted; mailbox providers require"
     " static"},
    {SENDER, CONNECT, 554, "",
     "Connection refused. Reputation of 192.0.2.1 is unknown"},
    {TEMPORARY, RCPT, 450, "4.1.1",
     "<eva@example.com>: Recipient address rejected: unverified address:"
     " connect to mx.example.com: Connection timed out"},
    {TEMPORARY, RCPT, 450, "4.2.0",
     "<eva@example.com>: Recipient address rejected: Greylisting in effect,"
     " unknown sender, try again later"},
    {TEMPORARY, RCPT, 451, "4.3.0",
     "Temporary lookup failure of the user; unknown user database error"},
    {TEMPORARY, RCPT, 451, "", "user lookup temporarily unavailable, try later"},
    {TEMPORARY, RCPT, 450, "4.1.1",
     "User lookup failed temporarily; mailbox not available"},
    {TEMPORARY, RCPT, 450, "4.2.1", "Mailbox temporarily unavailable, try again later"},
    {TEMPORARY, RCPT, 450, "",
     "Requested mail action not taken: mailbox unavailable (locked)"},
    {TEMPORARY, RCPT, 450, "4.2.1", "The mailbox is busy, try again later"},
    {TEMPORARY, RCPT, 451, "4.1.1",
     "Recipient verification failed, please try again: directory server not"
     " found"},
    {TEMPORARY, RCPT, 451, "4.3.0",
     "Temporary server error: no such table 'users'. Please try again later"},
    {TEMPORARY, RCPT, 451, "4.1.8", "Domain lookup of the recipient timed out"},
    {TEMPORARY, NO, 0, "4.4.3",
     "Name server: mx.example.com.: host name lookup failure"},
    {TEMPORARY, NO, 0, "4.4.1",
     "connect to mx.example.com[192.0.2.1]:25: Connection refused"},
    {TEMPORARY, NO, 0, "4.4.1",
     "connect to mx.example.com[192.0.2.1]:25: No route to host"},
    {TEMPORARY, NO, 0, "4.4.2",
     "lost connection with mx.example.com while sending RCPT TO"},
    {TEMPORARY, NO, 0, "4.4.7",
     "Delivery expired: recipient's server is unavailable or does not"
     " respond"},
    {TEMPORARY, RCPT, 421, "4.3.2",
     "System not accepting network messages; the mailbox server is down for"
     " maintenance"},
    {TEMPORARY, RCPT, 450, "4.3.2",
     "Mailbox server is not available at the moment, please try again"},
    {TEMPORARY, RCPT, 450, "",
     "account is temporarily suspended for migration, please try again later"},
    {TEMPORARY, RCPT, 451, "4.7.1",
     "Please try again later: unknown sender is greylisted"},
    {TEMPORARY, NO, 0, "5.4.6",
     "mail forwarding loop for eva@example.com: address not accepted again"},
    {TEMPORARY, NO, 0, "5.4.6",
     "too many hops: the address was not found in 25 attempts"},
    {FULL, RCPT, 452, "4.2.2",
     "The email account that you tried to reach is over quota. Please direct"
     " the recipient to https://support.google.com/mail/?p=OverQuotaTemp"},
    {FULL, RCPT, 552, "5.2.2",
     "The email account that you tried to reach is over quota and inactive."},
    {FULL, RCPT, 550, "5.2.2",
     "<eva@example.com>: mailbox is full; user has not been found to read it"},
    {FULL, RCPT, 550, "5.1.1", "Mailbox full, user does not accept new mail"},
    {FULL, RCPT, 550, "5.2.2", "User unknown quota: mailbox over quota"},
    {FULL, RCPT, 554, "5.2.2",
     "Recipient's mailbox is full; the address will not be found again until"
     " mail is removed"},
    {FULL, DOT, 554, "5.2.2",
     "Delivery failed: no space in the mailbox of the user, storage exceeded"},
    {FULL, RCPT, 422, "4.2.2",
     "The recipient's mailbox is over its storage limit, invalid until mail"
     " is removed"},
    {FULL, NO, 0, "",
     "The mailbox of this user is full: over quota. The address may be"
     " inactive."},
    {FULL, RCPT, 550, "5.7.1", "<eva@example.com> account is over quota: not accepted"},
    {FULL, RCPT, 452, "4.1.1", "eva@example.com: mailbox storage exceeded"},
    {UNKNOWN, DOT, 550, "", "Unknown user"},
    {UNKNOWN, DOT, 550, "", "User unknown"},
    {UNKNOWN, DOT, 550, "", "<eva@au.com>: User unknown"},
    {UNKNOWN, DOT, 550, "", "Requested action not taken"},
    {UNKNOWN, DOT, 554, "", "Transaction failed"},
    {UNKNOWN, NO, 550, "", "550 Requested action not taken"},
    {UNKNOWN, RCPT, 550, "", "Denied"},
    {UNKNOWN, RCPT, 550, "", "Rejected"},
    {UNKNOWN, RCPT, 554, "", "Refused"},
    {UNKNOWN, NO, 0, "", "Your message could not be delivered."},
    {UNKNOWN, NO, 0, "5.0.0", "Delivery failed"},
    {UNKNOWN, RCPT, 550, "5.0.0", "Command rejected"},
    {UNKNOWN, NO, 0, "",
     "Please check that you have spelled the address correctly. If the"
     " address is misspelled, correct it and send again."},
    {UNKNOWN, NO, 0, "",
     "If the user does not exist any more, remove the address from your"
     " list."},
    {UNKNOWN, NO, 0, "",
     "The most frequent reasons are a mistyped address or a full mailbox."},
    {UNKNOWN, NO, 0, "",
     "This may be because the address does not exist, the mailbox is full or"
     " the server could not be reached."},
    {UNKNOWN, NO, 0, "",
     "Possible reasons: user unknown, account disabled, or domain name"
     " misspelled."},
    {UNKNOWN, NO, 0, "",
     "Contact the recipient by other means, as the address may be wrong."},
    {UNKNOWN, NO, 0, "",
     "Check whether the e-mail address is invalid, and contact your"
     " administrator."},
    {SENDER, DOT, 550, "5.7.1",
     "We do not accept mail with this content for any mailbox"},
    {SENDER, RCPT, 554, "5.7.1",
     "Mail from list@example.net not accepted: domain does not exist"},
    {SENDER, RCPT, 550, "5.7.1", "Mailbox owner refuses mail from example.net"},
    {SENDER, RCPT, 550, "5.7.1",
     "The recipient does not accept mail from your address"},
    {SENDER, RCPT, 550, "5.7.1",
     "eva@example.com does not accept mail from unknown senders"},
    {SENDER, RCPT, 550, "5.2.1",
     "The user you are trying to contact is receiving mail too quickly from"
     " your domain; sending rate limit"},
    {SENDER, RCPT, 550, "5.4.5",
     "Daily sending quota exceeded: user not allowed to send"},
    {SENDER, RCPT, 550, "5.7.1",
     "challenge required: you are not in the whitelist of the user"},
    {SENDER, RCPT, 550, "", "Domain example.net has no valid SPF record"},
    {SENDER, RCPT, 550, "", "invalid MX record of your domain: host not found"},
    {SENDER, MAIL, 553, "", "Your domain example.net does not resolve; unknown domain"},
    {SENDER, MAIL, 550, "", "unroutable sender address"},
    {SENDER, MAIL, 550, "", "Invalid sender domain: no MX record found"},
    {SENDER, RCPT, 550, "",
     "bogus sender: domain of envelope from has no MX or A record"},
    {SENDER, DOT, 550, "", "Message rejected: the Message-ID has an invalid domain"},
    {SENDER, DOT, 550, "5.7.1",
     "The message was rejected by the recipient's mailbox rules"},
    {SENDER, DOT, 550, "5.7.1",
     "Content of this message was refused by user preferences"},
    {SENDER, CONNECT, 550, "",
     "Service refused: your server is not in our list of known hosts"},
    {SENDER, RCPT, 550, "5.7.1", "TLS required by recipient domain"},
    {SENDER, RCPT, 554, "5.7.1",
     "This user is protected; message discarded as unwanted bulk mail"},
    {SENDER, RCPT, 550, "",
     "Sorry, your envelope sender is in my badmailfrom list (#5.7.1)"},
    {SENDER, RCPT, 550, "",
     "Sorry, your envelope sender has been denied (#5.7.1): address unknown"
     " to us"},
    {SENDER, RCPT, 550, "5.7.1",
     "Mail to this address is only accepted from customers; unknown sender"},
    {SENDER, DOT, 550, "5.7.1",
     "Rejected because the domain in the links was not found"},
    {SENDER, RCPT, 550, "5.7.1", "Your message was blocked by our content policy"},
    {SENDER, RCPT, 554, "",
     "IP address is on a local blacklist; user unknown reports were"
     " excessive"},
    {SENDER, DOT, 550, "", "Message contains a malformed From header; mailbox missing"},
    {SENDER, RCPT, 550, "5.7.1", "Access denied for your country"},
    {SENDER, CONNECT, 554, "", "You are not allowed to connect, unknown client"},
    {SENDER, RCPT, 550, "5.7.1", "Sender not allowed: unknown address book entry"},
    {SENDER, MAIL, 550, "5.1.0", "Sender rejected: mailbox does not exist"},
    {SENDER, RCPT, 550, "", "Sender's domain has no MX; address invalid"},
    {SENDER, RCPT, 550, "", "message size limit of recipient mailbox is 1 MB"},
    {SENDER, DOT, 554, "", "Message refused by DMARC policy of unknown user domain"},
    {SENDER, RCPT, 550, "5.7.1",
     "Messages without valid DKIM are not delivered to any mailbox"},
    {UNKNOWN, DOT, 554, "", "Delivery failed"},
    {UNKNOWN, NO, 0, "", "It is possible that the address does not exist."},
    {UNKNOWN, NO, 0, "", "Maybe the mailbox is full or the user unknown."},
    {UNKNOWN, NO, 0, "", "Verify that the recipient exists and try again."},
    {UNKNOWN, RCPT, 550, "", "Not accepted"},
    {SENDER, RCPT, 550, "5.7.1", "Recipient refuses mail from this sender"},
    {SENDER, RCPT, 550, "", "The recipient has blocked you"},
    {SENDER, DOT, 550, "5.7.1", "The user has rejected this message by a filter"},
    {SENDER, RCPT, 550, "", "Cannot process address: too many bad recipients"},
    {SENDER, DOT, 552, "", "Attachment type .exe not accepted for this mailbox"},
    {SENDER, DOT, 554, "", "The message was infected; recipient not informed"},
    {SENDER, RCPT, 571, "", "Delivery not authorized, message refused"},
    {SENDER, RCPT, 550, "",
     "SC-001 (mta) Unfortunately, messages from 192.0.2.1 weren't sent."
     " Please contact your Internet service provider since part of their"
     " network is on our block list"},
    {SENDER, RCPT, 550, "",
     "OU-002 Mail rejected for policy reasons. Reasons for rejection may be"
     " related to content with spam-like characteristics"},
    {SENDER, RCPT, 550, "",
     "DY-001 Mail rejected. We generally do not accept email from dynamic"
     " IPs as they are not typically used to deliver unauthenticated SMTP"
     " email"},
    {SENDER, RCPT, 553, "", "sorry, your envelope sender domain must exist (#5.7.1)"},
    {SENDER, RCPT, 550, "5.1.0",
     "MAIL FROM address <list@example.net> rejected: no such domain"},
    {SENDER, MAIL, 550, "", "Sender unknown"},
    {SENDER, RCPT, 554, "5.7.1", "Rejected: suspect header; user lookup skipped"},
    {SENDER, DOT, 550, "",
     "Your email has been returned because it contains invalid recipient"
     " headers"},
};
/* clang-format on */

#endif
