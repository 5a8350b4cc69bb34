package text

import "golang.org/x/text/language"

// Traditional is the language of texts in traditional Chinese characters.
const Traditional = "zh-hant"

// Language returns the language of the texts for a tag (BCP 47): the tag without its country and script. Chinese of
// Taiwan, Hong Kong and Macao is Traditional, and Norwegian is Bokmål, which most of Norway writes.
func Language(tag string) string {
	parsed, _ := language.Parse(tag) // an unknown language is "und", which has no texts
	base, _, _ := parsed.Raw()
	switch script, _ := parsed.Script(); {
	case base.String() == "zh" && script.String() == "Hant":
		return Traditional
	case base.String() == "no":
		return "nb"
	}
	return base.String()
}

// In returns the texts for a tag (BCP 47) from those of each language. If its language has none, they are the English
// ones, and known is false.
func In[T any](texts map[string]T, tag string) (found T, known bool) {
	if found, known = texts[Language(tag)]; !known {
		found = texts["en"]
	}
	return found, known
}
