package platform

import (
	"slices"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Connect is how an account is connected.
type Connect string

// The ways to connect.
const (
	ConnectOAuth    Connect = "oauth2"
	ConnectBotToken Connect = "bot_token"
	ConnectPassword Connect = "password"
)

// Capabilities are what a platform takes. Each adapter has one table of them, which
// callers do not change.
type Capabilities struct {
	Label   string // the platform's name as it writes it
	Connect Connect
	Scopes  []string // asked for in the authorization
	Beta    bool     // the platform documents its interface badly; it may change
	// PublicApp says that the application proves itself by PKCE alone, and has no secret.
	PublicApp bool
	// CommunityToken says that an account is connected with the token of a community, too.
	CommunityToken bool

	Kinds    map[Kind]Rule
	Hashtags Hashtags // how they are placed
	Alt      Text     // of each image
	Comment  Text     // the first comment

	Options   []Option
	Shape     any       // the zero value of the type of its options, as callers send them
	Privacies []Privacy // the first is the default
	Metrics   []string  // names of Metrics' members

	// DailyPosts is how many posts an account may publish in 24 hours; 0: no known
	// limit. Where the platform can be asked, the adapter asks it.
	DailyPosts int
	// Budget bounds what publications use beside that; nil: nothing is known.
	Budget *Budget
	// Plain says that media may show no logo and no name of a brand.
	Plain bool
	// Pulls says that the platform reads media by their URL.
	Pulls bool
	// Notes are what a caller or operator has to know, in whole sentences.
	Notes []string
}

// Budget is how much of something publications may use in 24 hours, such as uploads. One
// that is used up makes publications wait.
type Budget struct {
	Max int
	// Shared says that all accounts of the operator's application have one budget, which is
	// spread over its day; otherwise each account has its own, for any 24 hours.
	Shared bool
	Starts time.Duration // of the day of a shared budget, after midnight in UTC
	// Files says that each of several media uses as much as the post itself.
	Files bool
}

// Uses returns how much of the budget a post uses.
func (b Budget) Uses(p Post) int {
	if b.Files && len(p.Media) > 1 {
		return 1 + len(p.Media)
	}
	return 1
}

// Rule is what the posts of one kind may have.
type Rule struct {
	Title   Text // where the platform has titles
	Caption Text
	// Rest bounds the caption where a longer one is published in two parts: the media
	// with what fits, then the rest as a message of its own.
	Rest Text

	MinMedia, MaxMedia int
	Image, Video       *File // nil: the kind takes none

	// Without are the options of the platform that posts of the kind do not have.
	Without []Option
}

// Supports reports whether posts of a kind have an option.
func (c Capabilities) Supports(kind Kind, o Option) bool {
	return slices.Contains(c.Options, o) && !slices.Contains(c.Kinds[kind].Without, o)
}

// Unit is what the length of a text is counted in.
type Unit string

// The units.
const (
	Runes Unit = "characters"
	UTF16 Unit = "utf16_units"
	Bytes Unit = "bytes"
)

// Text bounds a text. The zero value takes none.
type Text struct {
	Max       int
	Unit      Unit   // Runes if empty
	Forbidden string // characters that the platform refuses
	Required  bool
}

// Length returns the length of a text in the unit.
func (u Unit) Length(s string) int {
	switch u {
	case UTF16:
		n := 0
		for _, r := range s {
			n += max(utf16.RuneLen(r), 1)
		}
		return n
	case Bytes:
		return len(s)
	default:
		return utf8.RuneCountInString(s)
	}
}

// cut returns the longest beginning of s that has at most n units.
func (u Unit) cut(s string, n int) string {
	for i, r := range s {
		if n -= u.Length(string(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}

// File bounds a media file. Zero members bound nothing.
type File struct {
	MIMEs              []string
	MaxBytes           int64
	MinRatio, MaxRatio float64 // width by height
	MaxSides           int     // width and height together, in pixels
	MinTime, MaxTime   time.Duration
}

// Hashtags is how a platform takes hashtags.
type Hashtags struct {
	Max int // 0: none
	// Written says that those in the caption count, too.
	Written bool
	// Tags says that they are a list beside the caption, of at most Total characters;
	// otherwise they are its last paragraph.
	Tags  bool
	Total int
}
