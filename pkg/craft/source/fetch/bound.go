package fetch

import (
	"time"

	"github.com/content-automation/api/pkg/base/budget"
)

// ErrTooMuch is the error of a page or feed with more in it than is read.
var ErrTooMuch = budget.ErrExceeded

// The most that a page and a feed may have. The tokenizers hold one tag, text or comment at a time: an attribute of a
// feed takes more memory than one of a page. Of a feed of XML, attributes count as elements. It may have grown to twice
// its bytes by its encoding.
var (
	pages = budget.Budget{Name: "page", Bytes: maxBody, Elements: 20_000, Depth: 100, Part: 512 << 10,
		Time: 5 * time.Second}
	feeds = budget.Budget{Name: "feed of XML", Bytes: 4 * maxBody, Elements: 70_000, Depth: 100, Part: 256 << 10,
		Time: 5 * time.Second}
	jsonFeeds = budget.Budget{Name: "feed of JSON", Bytes: maxBody, Elements: 50_000, Depth: 100, Time: 5 * time.Second}
)

// The most elements and namespaces of a feed of XML.
const (
	mostElements = 20_000
	mostSpaces   = 100
)
