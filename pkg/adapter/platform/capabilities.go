package platform

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

// Connect is a way to connect an account.
type Connect string

// The ways to connect.
const (
	ConnectOAuth    Connect = "oauth2"
	ConnectBotToken Connect = "bot_token"
	ConnectPassword Connect = "password"
)

// Capabilities describes the limits and features of a platform. Each adapter has one table of them,
// which callers must not change.
type Capabilities struct {
	Label   string // the platform's name as it writes it
	Connect Connect
	Scopes  []string // requested in the authorization
	Beta    bool     // the interface is poorly documented and may change
	// PublicApp reports whether the application has no secret and proves itself by PKCE alone.
	PublicApp bool
	// CommunityToken reports whether the token of a community can connect an account, too.
	CommunityToken bool

	Kinds    map[Kind]Rule
	Hashtags Hashtags // their number and placement
	Origin   Origin   // how it learns that AI has made a post
	Alt      Text     // of each image
	Comment  Text     // the first comment
	Comments Commenting

	Options   []Option
	Shape     any       // zero value of the type of its options, as callers send them
	Privacies []Privacy // the first is the default
	Metrics   []string  // names of the members of Metrics that posts have, in the order of Names
	// Account describes the figures of an account, or is the zero value if there are none. If there
	// are, the platform is an AccountReader.
	Account AccountFigures
	// Past describes the list of the earlier posts of an account, or is the zero value if there is none. If there is,
	// the platform is a PastReader.
	Past Past
	// Lookups are the kinds of what a Finder finds.
	Lookups []Lookup
	// Reads bounds the readings of the metrics of posts, or is nil if no bound but that of each call is known.
	Reads *Reads

	// DailyPosts is how many posts an account may publish in 24 hours, or 0 if no limit is
	// known. The adapter asks the platform for the limit if the platform can tell it.
	DailyPosts int
	// Budget is a further limit on publications, or nil if none is known.
	Budget *Budget
	// Plain reports whether the platform refuses media that show a logo or the name of a brand.
	Plain bool
	// Asks returns the choices that the rules of the platform ask of the person who posts, and that a post lacks. It is
	// nil if there are none.
	Asks func(Post) []Problem
	// Refuses returns what is wrong with the options of a post beyond their shape. It is nil if nothing can be.
	Refuses func(Post) []Problem
	// Edits and Deletes report whether the platform is an Editor and a Deleter.
	Edits, Deletes bool
	// Reader reads the links, hashtags and mentions of a text as the platform does.
	Reader texts.Reader
	// Markup returns the markup of the texts of a post with the options, or is nil if all texts are plain.
	Markup func(Options) Markup
	// Pulls reports whether the platform reads media by their URL.
	Pulls bool
	// Habits tell writers of texts how people read the platform.
	Habits Habits
	// Notes are facts that a caller or operator has to know, in whole sentences.
	Notes []string
}

// Mark is a mark in a file that says that AI has made it.
type Mark string

// The marks that platforms read.
const (
	MarkIPTC Mark = "iptc" // DigitalSourceType of IPTC in XMP
	MarkC2PA Mark = "c2pa" // Content Credentials
)

// Origin describes how a platform learns that AI has made a post.
type Origin struct {
	// Flag reports whether a member of the post declares it.
	Flag bool
	// Reads are the marks in files that the platform reads, to label a post by itself.
	Reads []Mark
	// Source is the page that says so, empty if the platform has neither.
	Source string
}

// Silent reports whether only the text of a post can say that AI has made it.
func (o Origin) Silent() bool { return !o.Flag && len(o.Reads) == 0 }

// Habits are what readers of a platform are used to. The figures are estimates, since platforms change their displays
// without notice.
type Habits struct {
	// FirstLine is the number of characters of a caption that are seen before a reader opens it, 0 if all are seen.
	FirstLine int
	// Least and Most bound the usual length of a caption in characters.
	Least, Most int
	// Hashtags is the usual number of hashtags.
	Hashtags int
	// Links reports whether an address in a caption can be opened.
	Links bool
	// Action is the call to action that is usual, in a clause.
	Action string
	// Form says how posts are built there, in sentences. It may be empty.
	Form string
}

// Budget is how much of a resource, such as uploads, publications may use in 24 hours. Publications
// wait while the budget is used up.
type Budget struct {
	Max int
	// Shared reports whether all accounts of the operator's application have one budget, which
	// is spread over its day. Otherwise, each account has its own budget for any 24 hours.
	Shared bool
	Starts time.Duration // start of the day of a shared budget, after midnight in UTC
	// Files reports whether each of several media uses as much as the post itself.
	Files bool
	// Cost returns how much of the budget a post uses, or is nil.
	Cost func(Post) int
	// Unit is how much of the budget customers count as one in the limit of their own applications, and Least the least
	// such limit. Zero stands for one.
	Unit, Least int
}

// Uses returns how much of the budget a post uses.
func (b Budget) Uses(p Post) int {
	if b.Cost != nil {
		return b.Cost(p)
	}
	if b.Files && len(p.Media) > 1 {
		return 1 + len(p.Media)
	}
	return 1
}

// Rule bounds the posts of one kind.
type Rule struct {
	Title   Text // the zero value if the platform has no titles
	Caption Text
	// Rest bounds a caption that is too long for the media and is published in two parts: the
	// media with the first part, then the rest as a separate message.
	Rest Text
	// Thread is how many posts a caption may take with the option thread, or 0 if it takes one.
	Thread int

	MinMedia, MaxMedia int
	Image, Video       *File // nil if the kind takes none

	// Without are the options of the platform that posts of the kind do not have.
	Without []Option
}

// Supports reports whether posts of a kind have an option.
func (c Capabilities) Supports(kind Kind, o Option) bool {
	return slices.Contains(c.Options, o) && !slices.Contains(c.Kinds[kind].Without, o)
}

// Rule returns the bounds of a post, whose texts may have markup.
func (c Capabilities) Rule(p Post) Rule {
	rule := c.Kinds[p.Kind]
	if c.Markup != nil {
		markup := c.Markup(p.Options)
		rule.Caption.Markup, rule.Rest.Markup = markup, markup
	}
	return rule
}

// Markup is the language in which a text is written. The empty one is plain text.
type Markup string

// HTML is the HTML of Telegram. Platforms count what a reader sees of it.
const HTML Markup = "html"

// Text bounds a text. The zero value permits no text.
type Text struct {
	Max       int
	Unit      Unit   // Runes if empty
	MaxBytes  int    // a further limit in bytes, or 0
	Forbidden string // characters that the platform refuses
	Required  bool
	Markup    Markup
	// MaxLinks, MaxMentions and MaxCashtags bound what each text that is published has: its different links, the names
	// of accounts in it, and the symbols of shares. 0 sets no bound.
	MaxLinks, MaxMentions, MaxCashtags int
}

// File bounds a media file. A zero member sets no bound. Sizes are in pixels.
type File struct {
	MIMEs              []string
	MaxBytes           int64
	MinRatio, MaxRatio float64 // width by height
	MaxSides           int     // width and height together
	MaxWidth           int
	// MinShort and MaxShort bound the shorter side, and MaxLong the longer one.
	MinShort, MaxShort, MaxLong int
	MaxPixels                   int // width multiplied by height
	MinTime, MaxTime            time.Duration
	// Form bounds the codecs of videos.
	Form Form
}

// Hashtags describes how a platform takes hashtags.
type Hashtags struct {
	Max int // 0 if the platform takes none
	// Written reports whether hashtags in the caption count, too.
	Written bool
	// Strict reports whether each # counts that any reader could take as the beginning of a hashtag, because the
	// platform does not say what it takes as one.
	Strict bool
	// Tags reports whether the hashtags are a separate list of at most Total characters.
	// Otherwise, they are the last paragraph of the caption.
	Tags  bool
	Total int
}
