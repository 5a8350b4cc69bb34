package polly

import (
	"cmp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/polly/types"
	"golang.org/x/text/language"
)

// voice is a voice with the language that it speaks here. Some voices speak two.
type voice struct {
	id   types.VoiceId
	code types.LanguageCode
}

// voices are the default voices, by engine and language: a language of BCP 47 with a region, or alone for all other
// regions ("Available voices" of the developer guide).
var voices = map[types.Engine]map[string]voice{
	types.EngineStandard: {
		"ar":    {"Zeina", "arb"},
		"cy":    {"Gwyneth", "cy-GB"},
		"da":    {"Naja", "da-DK"},
		"de":    {"Marlene", "de-DE"},
		"en":    {"Joanna", "en-US"},
		"en-AU": {"Nicole", "en-AU"},
		"en-GB": {"Amy", "en-GB"},
		"en-IN": {"Raveena", "en-IN"},
		"es":    {"Conchita", "es-ES"},
		"es-MX": {"Mia", "es-MX"},
		"es-US": {"Lupe", "es-US"},
		"fr":    {"Celine", "fr-FR"},
		"fr-CA": {"Chantal", "fr-CA"},
		"hi":    {"Aditi", "hi-IN"},
		"is":    {"Dora", "is-IS"},
		"it":    {"Carla", "it-IT"},
		"ja":    {"Mizuki", "ja-JP"},
		"ko":    {"Seoyeon", "ko-KR"},
		"nl":    {"Lotte", "nl-NL"},
		"no":    {"Liv", "nb-NO"},
		"pl":    {"Ewa", "pl-PL"},
		"pt":    {"Vitoria", "pt-BR"},
		"pt-PT": {"Cristiano", "pt-PT"},
		"ro":    {"Carmen", "ro-RO"},
		"ru":    {"Tatyana", "ru-RU"},
		"sv":    {"Astrid", "sv-SE"},
		"tr":    {"Filiz", "tr-TR"},
		"zh":    {"Zhiyu", "cmn-CN"},
	},
	types.EngineNeural: {
		"ar":    {"Hala", "ar-AE"},
		"ca":    {"Arlet", "ca-ES"},
		"cs":    {"Jitka", "cs-CZ"},
		"da":    {"Sofie", "da-DK"},
		"de":    {"Vicki", "de-DE"},
		"de-AT": {"Hannah", "de-AT"},
		"de-CH": {"Sabrina", "de-CH"},
		"en":    {"Joanna", "en-US"},
		"en-AU": {"Olivia", "en-AU"},
		"en-GB": {"Amy", "en-GB"},
		"en-IE": {"Niamh", "en-IE"},
		"en-IN": {"Kajal", "en-IN"},
		"en-NZ": {"Aria", "en-NZ"},
		"en-ZA": {"Ayanda", "en-ZA"},
		"es":    {"Lucia", "es-ES"},
		"es-MX": {"Mia", "es-MX"},
		"es-US": {"Lupe", "es-US"},
		"fi":    {"Suvi", "fi-FI"},
		"fr":    {"Lea", "fr-FR"},
		"fr-BE": {"Isabelle", "fr-BE"},
		"fr-CA": {"Gabrielle", "fr-CA"},
		"hi":    {"Kajal", "hi-IN"},
		"it":    {"Bianca", "it-IT"},
		"ja":    {"Kazuha", "ja-JP"},
		"ko":    {"Seoyeon", "ko-KR"},
		"nl":    {"Laura", "nl-NL"},
		"nl-BE": {"Lisa", "nl-BE"},
		"no":    {"Ida", "nb-NO"},
		"pl":    {"Ola", "pl-PL"},
		"pt":    {"Camila", "pt-BR"},
		"pt-PT": {"Ines", "pt-PT"},
		"sv":    {"Elin", "sv-SE"},
		"tr":    {"Burcu", "tr-TR"},
		"yue":   {"Hiujin", "yue-CN"},
		"zh":    {"Zhiyu", "cmn-CN"},
	},
	types.EngineLongForm: {
		"en": {"Danielle", "en-US"},
	},
	types.EngineGenerative: {
		"de":    {"Vicki", "de-DE"},
		"en":    {"Ruth", "en-US"},
		"en-AU": {"Olivia", "en-AU"},
		"en-GB": {"Amy", "en-GB"},
		"en-IN": {"Kajal", "en-IN"},
		"en-ZA": {"Ayanda", "en-ZA"},
		"es":    {"Lucia", "es-ES"},
		"es-MX": {"Mia", "es-MX"},
		"es-US": {"Lupe", "es-US"},
		"fr":    {"Lea", "fr-FR"},
		"fr-CA": {"Gabrielle", "fr-CA"},
		"it":    {"Bianca", "it-IT"},
	},
}

// defaultLanguage is the language of a request without one.
const defaultLanguage = "en"

// find returns the voice of an engine for a tag. It returns false if the engine does not speak the language, and an
// error if the tag is invalid.
func find(engine types.Engine, tag string) (v voice, found bool, err error) {
	parsed, err := language.Parse(cmp.Or(tag, defaultLanguage))
	if err != nil {
		return voice{}, false, err
	}
	base, _ := parsed.Base()
	name := base.String()
	switch name {
	case "nb", "nn":
		name = "no"
	case "cmn":
		name = "zh"
	case "arb":
		name = "ar"
	}
	if region, sure := parsed.Region(); sure == language.Exact {
		if v, ok := voices[engine][name+"-"+region.String()]; ok {
			return v, true, nil
		}
	}
	v, found = voices[engine][name]
	return v, found, nil
}

// named returns the voice of a request that names one. A voice of two languages gets the language of the request. The
// others have only one.
func named(engine types.Engine, id, tag string) voice {
	v := voice{id: types.VoiceId(id)}
	if usual, found, err := find(engine, tag); err == nil && found && strings.EqualFold(string(usual.id), id) {
		return usual
	}
	return v
}
