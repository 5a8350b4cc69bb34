package polly

import "strings"

// speaker is a voice: its first language, its other languages, and its engines.
type speaker struct{ languages, engines string }

// speakers are voices of the developer guide's list, with s, n, l and g for the
// engines standard, neural, long-form and generative.
var speakers = map[string]speaker{
	"Aditi": {"en-IN hi-IN", "s"}, "Amy": {"en-GB", "sng"}, "Aria": {"en-NZ", "n"}, "Arlet": {"ca-ES", "n"},
	"Astrid": {"sv-SE", "s"}, "Ayanda": {"en-ZA", "ng"}, "Bianca": {"it-IT", "sng"}, "Brian": {"en-GB", "sn"},
	"Burcu":  {"tr-TR", "n"},
	"Camila": {"pt-BR", "sn"}, "Carla": {"it-IT", "s"}, "Carmen": {"ro-RO", "s"}, "Celine": {"fr-FR", "s"},
	"Chantal":  {"fr-CA", "s"},
	"Conchita": {"es-ES", "s"}, "Cristiano": {"pt-PT", "s"}, "Daniel": {"de-DE", "ng"}, "Danielle": {"en-US", "nlg"},
	"Dora": {"is-IS", "s"},
	"Elin": {"sv-SE", "n"}, "Ewa": {"pl-PL", "s"}, "Filiz": {"tr-TR", "s"}, "Gabrielle": {"fr-CA", "ng"},
	"Gregory": {"en-US", "nl"},
	"Gwyneth": {"cy-GB", "s"}, "Hala": {"ar-AE", "n"}, "Hannah": {"de-AT", "n"}, "Hiujin": {"yue-CN", "n"},
	"Ida":  {"nb-NO", "n"},
	"Ines": {"pt-PT", "sn"}, "Isabelle": {"fr-BE", "n"}, "Jitka": {"cs-CZ", "n"}, "Joanna": {"en-US", "sng"},
	"Kajal":  {"en-IN hi-IN", "ng"},
	"Kazuha": {"ja-JP", "n"}, "Laura": {"nl-NL", "ng"}, "Lea": {"fr-FR", "sng"}, "Lisa": {"nl-BE", "ng"},
	"Liv":   {"nb-NO", "s"},
	"Lotte": {"nl-NL", "s"}, "Lucia": {"es-ES", "sng"}, "Lupe": {"es-US", "sng"}, "Marlene": {"de-DE", "s"},
	"Matthew": {"en-US", "sng"},
	"Mia":     {"es-MX", "sng"}, "Mizuki": {"ja-JP", "s"}, "Naja": {"da-DK", "s"}, "Niamh": {"en-IE", "ng"},
	"Nicole": {"en-AU", "s"},
	"Ola":    {"pl-PL", "n"}, "Olivia": {"en-AU", "ng"}, "Raveena": {"en-IN", "s"},
	"Ruth": {"en-US", "nlg"}, "Sabrina": {"de-CH", "n"}, "Seoyeon": {"ko-KR", "sn"}, "Sofie": {"da-DK", "n"},
	"Suvi":   {"fi-FI", "n"},
	"Takumi": {"ja-JP", "sn"}, "Tatyana": {"ru-RU", "s"}, "Vicki": {"de-DE", "sng"}, "Vitoria": {"pt-BR", "sn"},
	"Zeina": {"arb", "s"},
	"Zhiyu": {"cmn-CN", "sn"},
}

// engines maps engines to their letters.
var engines = map[string]string{"standard": "s", "neural": "n", "long-form": "l", "generative": "g"}

func (s speaker) has(engine string) bool { return strings.Contains(s.engines, engines[engine]) }

func (s speaker) speaks(code string) bool {
	for known := range strings.FieldsSeq(s.languages) {
		if known == code {
			return true
		}
	}
	return false
}
