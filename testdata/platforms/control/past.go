package control

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Past is a post that the account has had before it was connected.
type Past struct {
	ID    string
	Text  string
	At    time.Time
	Video bool
	Likes int
}

// pastPosts is the number of earlier posts of an account, and pastAtOnce the most of them on a page of a fake.
const (
	pastPosts  = 12
	pastAtOnce = 5
)

// Past returns a page of the earlier posts of the account, the latest first, from a cursor on, and the next cursor. Pages
// are shorter than a caller may ask for, as those of platforms are.
func (c *Control) Past(cursor string) (page []Past, next string) {
	from, _ := strconv.Atoi(cursor)
	for n := from; n < min(from+pastAtOnce, pastPosts); n++ {
		page = append(page, Past{ID: strconv.Itoa(700_000_001 + n), Text: fmt.Sprintf("Shoe %d of old nets", n+1),
			At: c.Now().Add(-time.Duration(n*40+30) * 24 * time.Hour / 10).UTC().Truncate(time.Second), Video: n%3 == 0,
			Likes: 10 + n})
	}
	if from+pastAtOnce < pastPosts {
		next = strconv.Itoa(from + pastAtOnce)
	}
	return page, next
}

// GraphTime is the format of times of the platforms of Meta.
const GraphTime = "2006-01-02T15:04:05-0700"

// GraphPage writes a page of a list as the platforms of Meta do: each page has cursors, and all but the last one the
// address of the next.
func GraphPage(w http.ResponseWriter, data []any, next, address string) {
	paging := map[string]any{"cursors": map[string]string{"before": "0", "after": next}}
	if next != "" {
		paging["next"] = address + "/" + next
	}
	JSON(w, http.StatusOK, map[string]any{"data": data, "paging": paging})
}

// FindPast reports whether an id is that of an earlier post.
func (c *Control) FindPast(id string) bool {
	n, err := strconv.Atoi(id)
	return err == nil && n > 700_000_000 && n <= 700_000_000+pastPosts
}
