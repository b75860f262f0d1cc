"""Files that hold other documents: archives, mailboxes, messages with attachments."""
