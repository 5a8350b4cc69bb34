package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Channel is the profile of a factory.
type Channel struct {
	Name, Type                  string
	Description, Audience, Tone string
	Topics                      []string
	// Settings are those of its type that matter to a writer.
	Settings map[string]any
}

// kinds names the channels of factories.
var kinds = map[string]string{
	"blogger": "a personal blog", "seller": "an online shop", "expert": "an expert who shares knowledge",
	"brand": "a brand", "news": "a news channel", "entertainment": "an entertainment channel", "musician": "a musician",
}

// said are sentences about the settings, with a place for the value. Settings that are absent say nothing.
var said = map[string]string{
	"persona":        "The person who speaks: %s.",
	"style":          "The kind of blog: %s.",
	"shop_name":      "The shop is called %s.",
	"currency":       "Its prices are in %s.",
	"call_to_action": "Its call to action is %q.",
	"field":          "Its field is %s.",
	"credentials":    "What the expert may name as credentials: %s.",
	"brand_name":     "The brand is called %s.",
	"slogan":         "Its slogan is %q; use it seldom.",
	"voice_rules":    "Rules of its voice: %s.",
	"region":         "It reports on the country with the code %s.",
	"sources":        "The sources that it names: %s.",
	"max_age_hours":  "It reports nothing that is older than %s hours.",
	"formats":        "Its running formats: %s.",
	"artist_name":    "The artist is called %s.",
	"genres":         "The genres of the music: %s.",
	"mood":           "The mood of the music: %s.",
}

// choices are sentences about the values of settings that have few. Other values say nothing.
var choices = map[string]map[string]string{
	"first_person": {"true": "It is written in the first person.", "false": "It avoids the first person."},
	"show_prices":  {"false": "It names no prices."},
	"depth": {
		"beginner":     "Its readers are beginners: explain each term.",
		"intermediate": "Its readers know the basics.",
		"advanced":     "Its readers are of the trade: explain no basics.",
	},
	"cite_sources": {"true": "Where it states what somebody else has found, it names who, as far as the message says " +
		"so."},
	"fact_check": {"true": "It publishes only statements whose source stands in the message."},
	"humor": {
		"none": "It makes no jokes.", "light": "Its humor is light and friendly.",
		"dry": "Its humor is dry: the joke is told with a straight face.", "absurd": "Its humor is absurd.",
		"sarcastic": "Its humor is sarcastic, and never aimed at the reader.",
	},
	"age_rating": {
		"all": "It is suitable for children of all ages.", "12": "It is suitable from the age of 12.",
		"16": "It is suitable from the age of 16.", "18": "Its readers are adults.",
	},
}

// emojis are sentences about the emojis of a voice.
var emojis = map[string]string{"none": "Its texts have no emojis.",
	"few":  "Its texts have one or two emojis, where they say something.",
	"many": "Its texts have many emojis."}

// Sentences returns the profile in sentences. Settings that it does not know are left out: colors and files are for
// pictures.
func (c Channel) Sentences() string {
	kind := kinds[c.Type]
	if kind == "" {
		kind = "a channel"
	}
	all := []string{fmt.Sprintf("The channel is %q, %s.", c.Name, kind)}
	add := func(format, value string) {
		if value = strings.TrimRight(strings.TrimSpace(value), "."); value != "" {
			all = append(all, fmt.Sprintf(format, value))
		}
	}
	add("It is about: %s.", c.Description)
	add("Its readers: %s.", c.Audience)
	add("Its tone is %s.", c.Tone)
	add("Its topics are %s.", strings.Join(c.Topics, ", "))
	for _, name := range slices.Sorted(maps.Keys(said)) {
		add(said[name], words(c.Settings[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		if sentence := choices[name][words(c.Settings[name])]; sentence != "" {
			all = append(all, sentence)
		}
	}
	voice, _ := c.Settings["voice"].(map[string]any)
	add("It addresses its readers with %q, in every text.", words(voice["address"]))
	if sentence := emojis[words(voice["emoji"])]; sentence != "" {
		all = append(all, sentence)
	}
	add("Words and phrases of its own, of which a text has one at most, where it fits: %s.", words(voice["we_say"]))
	add("It never says: %s.", words(voice["we_never_say"]))
	add("It never names its competitors: %s.", words(voice["competitors"]))
	add("It never uses these words: %s.", words(c.Settings["forbidden_words"]))
	return strings.Join(all, "\n")
}

// words returns a setting as a text.
func words(setting any) string {
	switch v := setting.(type) {
	case nil:
		return ""
	case []any:
		all := make([]string, len(v))
		for i, one := range v {
			all[i] = words(one)
		}
		return strings.Join(all, ", ")
	default:
		return fmt.Sprint(v)
	}
}
