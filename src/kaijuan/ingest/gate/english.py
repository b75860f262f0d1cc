"""Instructions to a language model in English. Texts come in lower case."""

from __future__ import annotations

from kaijuan.ingest.gate.rules import rule

_NOT = r"(?<!not )(?<!never )(?<!n't )(?<!cannot )"
_ORDERS = r"(?:instructions?|prompts?|directions|directives?|commands?)"
_DROP_WORDS = "ignore|disregard|forget|over|bypass|discard|dismiss|neglect|abandon|set aside|stop following"
_ORDER_WORDS = "instruction|prompt|direct|command|guideline|rules|programming|training"
_EARLIER = (
    r"(?:previous|prior|preceding|earlier|foregoing|above|existing|initial|original|past|former|system|developer)"
)
_DROP = r"(?:ignore|disregard|forget|override|overrule|bypass|discard|dismiss|neglect|abandon|set aside|stop following)"
_MODEL = (
    r"(?:ai|a\.i\.|llms?|language models?|large language models?|chat ?bots?|chatgpt|gpt-?\d?|copilot|claude|gemini)"
)
_REPLY = r"your (?:\w+ )?(?:answers?|responses?|repl(?:y|ies)|outputs?)"
_START = r"(?:^|[.!?;:\"'()>»]\s*|\b(?:please|now|then|also|and|can you|could you|you must|you should|must|always)\s+)"

RULES = (
    rule(
        "tells to ignore earlier instructions",
        rf"{_NOT}\b{_DROP}\b(?:\W+(?:all|any|every|the|your|my|of|these|those|their|its|each|both|and|to)\b){{0,5}}"
        rf"\W+(?:{_EARLIER}\b(?:\W+[\w-]+){{0,3}}?\W+{_ORDERS}|(?:all"
        rf"|your)\W+(?:of\W+)?(?:your\W+)?(?:{_EARLIER}|safety)\W+"
        r"(?:\w+\W+)?(?:rules|guidelines|programming|training))\b",
        _DROP_WORDS,
        _ORDER_WORDS,
    ),
    rule(
        "tells to ignore earlier instructions",
        rf"{_NOT}\b{_DROP}\b(?:\W+(?:all|any|every|the|of|these|those|each))*\W+{_ORDERS}\W+(?:given|you|above"
        rf"|before|provided"
        r"|that came|prior|in (?:your|the) (?:system )?(?:prompt|context))\b",
        _DROP_WORDS,
        _ORDER_WORDS,
    ),
    rule(
        "tells to forget everything before",
        r"\b(?:ignore|disregard|forget)\W+(?:everything|all)\W+(?:that\W+)?(?:you(?:'ve| have| were)?\W+(?:been\W+)?"
        r"(?:told|know|learned|instructed|given)|written\W+above|(?:came\W+)?(?:above|before)\W+this|the\W+above"
        r"\W+(?:text|and|instructions))",
        "ignore|disregard|forget",
        "everything|all",
    ),
    rule(
        "gives the model another role",
        r"\byou(?:\W+are|'re)\W+(?:now|no longer)\W+(?:an?\W+|the\W+|acting as\W+(?:an?\W+)?|bound by\W+)?"
        rf"(?:\w+\W+){{0,3}}?(?:{_MODEL}|assistant|dan\b|jailbroken|unrestricted|uncensored|unfiltered"
        r"|(?:developer|dan|jailbreak|god|debug|sudo|admin) mode|(?:your|any|these|those) (?:rules|restrictions"
        r"|guidelines))",
        "you are now|you're now|you are no longer|you're no longer",
    ),
    rule(
        "gives the model another role",
        rf"\bfrom now on,?\W+you\W+(?:are|will|must|shall"
        rf"|should)\W+(?:only\W+)?(?:be\W+)?(?:an?\W+)?(?:\w+\W+){{0,2}}?(?:{_MODEL}|assistant"
        r"|answer|respond|reply|obey|dan\b)",
        "from now on",
    ),
    rule(
        "gives the model another role",
        r"\b(?:act|behave|respond|roleplay|role-play|pretend)\W+(?:as|like|to be"
        r"|that you are)\W+(?:if\W+you\W+(?:are|were)\W+)?"
        rf"(?:an?\W+)?(?:\w+\W+){{0,2}}?(?:unrestricted|uncensored|unfiltered|jailbroken|evil|malicious"
        rf"|dan\b)(?:\W+{_MODEL})?",
        "unrestricted|uncensored|unfiltered|jailbroken|evil|malicious|dan",
        "act|behave|respond|roleplay|role-play|pretend",
    ),
    rule(
        "asks for the system prompt",
        r"\b(?:reveal|print|repeat|output|show|display|leak|disclose|expose|tell|give|send|include|append"
        r"|echo)\W+(?:me\W+|us\W+)?"
        r"(?:(?:the|your|all|of|entire|full|exact|complete|original|hidden|secret|internal)\W+){0,5}"
        r"(?:system\W+prompt|(?<=your\s)system\W+message|system\W+instructions|(?:hidden|secret|initial"
        r"|developer)\W+(?:prompt|instructions))",
        "prompt|system message|instructions",
        "system|hidden|secret|initial|developer",
    ),
    rule(
        "looks like the markup of a chat",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|begin_of_text|start_header_id"
        r"|end_header_id)\|>"
        r"|<</?sys>>|\[/inst\]|\[inst\]\s*(?:<<sys|\w[^\]\n]{0,2000}?\[/inst\])",
        "<|im_|<|system|<|user|<|assistant|<|endoftext|<|eot|<|begin|<|start_h|<|end_h|sys>>|inst] |[/inst]|[inst]",
    ),
    rule(
        "looks like a message of the system role",
        r"^\W{0,4}(?:#+\s*)?(?:\[?(?:system|developer|assistant)\]?)\s*(?:message|prompt|note|override|update"
        r"|instruction)?"
        r"\s*[:>]\W*(?:you\W+(?:are|must|will|should|have)\W+(?:now|an?\W+\w*\W*(?:assistant|ai|model)|ignore"
        r"|not|to)\b"
        rf"|{_DROP}\b|from now on|new instructions?|do not (?:reveal|tell|mention|follow))",
        "system|developer|assistant",
        "you|ignore|disregard|forget|override|from now on|new instruction|do not",
    ),
    rule(
        "speaks to a language model",
        rf"\b(?:attention|notice|note|message|instructions?|directive|important|warning)\W+(?:(?:to"
        rf"|for)\W+)?(?:all\W+|any\W+|the\W+)?"
        rf"(?:(?:{_MODEL})(?:\s(?:assistants?|agents?|models?|systems?|reviewers?|readers?))?)\b\s*(?:[:,!—-]"
        rf"|reading|processing|summari)",
        "attention|notice|note|message|instruction|directive|important|warning",
        "ai|llm|language model|chat|gpt|copilot|claude|gemini",
    ),
    rule(
        "speaks to a language model",
        rf"\b(?:if|since|because|when) you(?:'re| are) (?:an?\W+)?(?:{_MODEL}|ai (?:assistant|agent|model)"
        rf"|(?:virtual|automated)"
        r" assistant)\b|\bas an? (?:ai(?: language)?(?: model| assistant)?|llm|language model),? you (?:must"
        r"|should|will|shall|have to)\b",
        "if you|since you|because you|when you|as an ai|as an llm|as a language model|as a llm",
        "ai|llm|language model|chat|gpt|copilot|claude|gemini|assistant",
    ),
    rule(
        "gives new instructions to a model",
        r"\b(?:new|updated|real|actual|true|revised|special|hidden|secret)\W+(?:system\W+)?(?:instructions?"
        r"|prompt|directives?)\W*"
        r"(?:for (?:the )?(?:ai|assistant|model|llm|chatbot)|(?:to|from) (?:the )?(?:system|developer|operator))\b",
        "instruction|prompt|directive",
        "new|updated|real|actual|true|revised|special|hidden|secret",
    ),
    rule(
        "says how a model shall answer",
        rf"{_START}(?:(?:append|insert|integrate|incorporate|weave|embed|slip|encode|encrypt|encipher|reverse"
        rf"|rearrange|scramble"
        rf"|shuffle|jumble|misspell|obfuscate)\b(?:[^.!?\n]|\.(?=\w)){{0,160}}?\b{_REPLY}\b|(?:enhance|modify"
        rf"|alter|change|adjust)\s+{_REPLY}\s+"
        r"(?:to (?:promote|mention|highlight|include|recommend|advertise|praise|say|claim|contain|feature|point"
        r"|link)|by (?:suggesting|adding"
        r"|mentioning|promoting|including|recommending|inserting))\b"
        rf"|(?:end|finish|conclude|begin|start|close|prefix|preface)\s+(?:every|each"
        rf"|all)\s+(?:of\s+)?(?:your\s+)?(?:answers?|responses?|repl(?:y|ies)|outputs?)\s+(?:with|by)\b"
        r"|(?:answer|respond|reply)\s+(?:only\s+)?(?:in|using|with)\s+(?:only\s+)?(?:base ?64|rot13|morse"
        r"|reverse|anagrams|emojis?\b|pig latin|hex))",
        "answer|response|reply|replies|respond|output",
        "append|insert|integrate|incorporate|weave|embed|slip|encode|encrypt|encipher|reverse|rearrange"
        "|scramble|shuffle|jumble"
        "|misspell|obfuscate|enhance|modify|alter|change|adjust|every|each|all |base64|base 64|rot13|morse"
        "|anagram|emoji|pig latin|hex",
    ),
    rule(
        "says how a model shall answer",
        rf"{_START}(?:add|put)\s+\"[^\"\n]{{5,200}}\"[^.!?\n]{{0,80}}?\b(?:to|in|into)\s+{_REPLY}\b"
        rf"|{_START}(?:augment|lace|pepper|sprinkle)\s+{_REPLY}\s+with\b"
        rf"|\bin\s+{_REPLY},?\s+(?:tease|promote|advertise|suggest (?:that )?(?:users?|people|readers?)"
        rf"|urge (?:users?|people|readers?))\b",
        "answer|response|reply|replies|output",
        "add|put|augment|lace|pepper|sprinkle|in your",
    ),
    rule(
        "says how a model shall answer",
        rf"{_START}(?:use|write|provide|give|express|present|display|show|invert|replace|combine|group|jumble"
        rf"|format|deliver|craft)\b"
        rf"[^.!?\n]{{0,60}}?(?:{_REPLY}|your message)[^.!?\n]{{0,40}}?\b(?:base ?(?:16|32|58|64)"
        rf"|hex(?:adecimal)?|rot13|morse|emojis?|emoticons|backwards?"
        r"|reverse(?:d)?|anagrams?|misspell\w*|typos|pig latin|without (?:spaces|vowels)|spaces removed)\b"
        rf"|{_START}(?:use|can you use)\s+(?:emojis?|emoticons|base ?(?:16|32|58|64)|emoji substitution"
        rf"|misspell\w*|typos)\b[^.!?\n]{{0,60}}?\b{_REPLY}\b",
        "answer|response|reply|replies|output|message",
        "base|hex|rot13|morse|emoji|emoticon|backward|reverse|anagram|misspell|typo|pig latin|without|spaces",
    ),
    rule(
        "sends data away",
        r"!\[[^\]\n]{0,200}\]\(\s*https?://[^)\s]{1,500}?[?&][\w-]{1,40}=(?:\{|<|%7b|\[|\$)",
        "](http|]( http",
    ),
    rule(
        "sends data away",
        r"\b(?:send|post|forward|exfiltrate|e-?mail|upload|transmit|leak|append"
        r"|encode)\b[^.!?\n]{0,60}?\b(?:the|this|all|entire|full|user'?s?|whole)\W+"
        r"(?:\w+\W+){0,2}?(?:conversation|chat history|chat log|prompt|context window|secrets?|api keys?"
        r"|credentials|passwords?)\b"
        r"[^.!?\n]{0,40}?\b(?:to|into|at)\W+(?:https?://|[\w.+-]{1,64}@[\w-]{1,64}\.)",
        "conversation|chat history|chat log|prompt|context window|secret|api key|credential|password",
        "http|@",
    ),
)
"""For any text."""

HIDDEN = (
    rule(
        "hidden text that tells to answer in a way",
        rf"\b(?:in|with|to|of|from|into|for|at)\W+{_REPLY}\b|{_START}(?:\w+\W+){{0,3}}{_REPLY}\b",
        "your",
        "answer|response|reply|replies|output",
    ),
    rule(
        "hidden text that gives an order",
        rf"{_START}(?:recommend|rate|rank|hire|accept|approve|praise|promote|ignore|disregard|forget|pretend"
        rf"|reveal|say|tell|respond"
        r"|reply|answer|output|print|summari[sz]e|translate|write|draft|compose|generate|provide|create|develop"
        r"|explain|describe"
        r"|suggest|list|give|do not|don't|never|always|you (?:are|must|should|will))\b[^.!?\n]{12,}",
        " ",
    ),
    rule(
        "hidden text about a model or a user",
        rf"\b(?:{_MODEL}|the (?:user|assistant|model|candidate|applicant|reviewer)|system prompt)\b[^.!?\n]{{0,80}}?"
        r"\b(?:must|should|shall|do not|don't|never|always|only|best|highly|recommend|positive|strong)",
        "ai|llm|model|chat|gpt|copilot|claude|gemini|user|assistant|candidate|applicant|reviewer|system prompt",
    ),
)
"""For text that people do not see."""
