"""Made-up but language-like text, Chinese and English, the same on every machine for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种"
    "面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本"
    "去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比"
    "或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总"
    "次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做"
    "必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权"
    "收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信"
    "马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连"
    "断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存"
    "候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严"
)
ENGLISH = (  # noqa: SIM905 sixty strings in a list are harder to read
    "system policy report value service order customer process result change period account market water "
    "energy research method figure table employee travel limit approval contract product version release "
    "error device network storage index query answer source evidence citation passage chapter section "
    "standard review quality project budget revenue growth control design model training security access user "
    "group document page number"
).split()


def sentence(chance: random.Random) -> str:
    """Return one sentence, Chinese three times in four."""
    if chance.random() < 0.75:
        size = chance.randint(8, 30)
        return "".join(HAN[min(int(chance.expovariate(1 / 120)), len(HAN) - 1)] for _ in range(size)) + "。"
    size = chance.randint(6, 18)
    words = [ENGLISH[min(int(chance.expovariate(1 / 20)), len(ENGLISH) - 1)] for _ in range(size)]
    return " ".join(words).capitalize() + f" {chance.randint(1, 9999)}. "


def paragraphs(seed: int, characters: int) -> Iterator[str]:
    """Yield paragraphs until about `characters` have been written."""
    chance = random.Random(seed)
    written = 0
    while written < characters:
        text = "".join(sentence(chance) for _ in range(chance.randint(3, 9)))
        written += len(text)
        yield text
