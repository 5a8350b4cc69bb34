package linkedin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
)

// urnOf returns the URN of a comment, and numberOf the number in one.
func urnOf(c control.Comment) string { return "urn:li:comment:(" + c.Post + "," + c.ID + ")" }

func numberOf(urn string) string {
	return strings.TrimSuffix(urn[strings.LastIndexByte(urn, ',')+1:], ")")
}

// remark returns a comment as LinkedIn does.
func (f *Fake) remark(c control.Comment, replies int) map[string]any {
	actor := "urn:li:person:" + c.Handle
	if c.Own {
		post, _ := f.Find(c.Post)
		actor = post.Account
	}
	m := map[string]any{"$URN": urnOf(c), "id": c.ID, "actor": actor, "object": c.Post,
		"message": map[string]string{"text": c.Text}, "created": map[string]int64{"time": c.At.UnixMilli()},
		"commentsSummary": map[string]int{"aggregatedTotalComments": replies}}
	if c.Parent != "" {
		m["parentComment"] = "urn:li:comment:(" + c.Post + "," + c.Parent + ")"
	}
	return m
}

// comments lists the comments on a post, or the replies to a comment. Those on posts of members are not shown.
func (f *Fake) comments(w http.ResponseWriter, r *http.Request) {
	urn, parent := r.PathValue("urn"), ""
	if strings.HasPrefix(urn, "urn:li:comment:") {
		c, ok := f.FindComment(numberOf(urn))
		if !ok {
			refuse(w, http.StatusNotFound)
			return
		}
		urn, parent = c.Post, c.ID
	}
	post, ok := f.Find(urn)
	start, bad1 := strconv.Atoi(r.URL.Query().Get("start"))
	count, bad2 := strconv.Atoi(r.URL.Query().Get("count"))
	switch {
	case bad1 != nil || bad2 != nil || count < 1 || count > 100:
		bad(w)
		return
	case !ok:
		refuse(w, http.StatusNotFound)
		return
	case !f.may(w, r, views(post.Account)):
		return
	}
	all, elements := f.CommentsOn(urn), []any{}
	for _, c := range all {
		if c.Parent != parent {
			continue
		}
		replies := 0
		for _, r := range all {
			if r.Parent == c.ID {
				replies++
			}
		}
		elements = append(elements, f.remark(c, replies))
	}
	part := elements[min(start, len(elements)):min(start+count, len(elements))]
	control.JSON(w, http.StatusOK, map[string]any{"elements": slices.Clone(part),
		"paging": map[string]int{"start": start, "count": count, "total": len(elements)}})
}

// reply writes a reply to a comment on a post. Replies take none.
func (f *Fake) reply(w http.ResponseWriter, urn, parent, actor, object, text string) {
	c, ok := f.FindComment(numberOf(parent))
	post, _ := f.Find(c.Post)
	switch {
	case !ok:
		refuse(w, http.StatusNotFound)
	case urn != parent || parent != urnOf(c) || object != c.Post || c.Parent != "" || actor != post.Account ||
		text == "" || utf8.RuneCountInString(text) > 1250:
		bad(w)
	default:
		made := f.AddComment(control.Comment{Post: c.Post, Parent: c.ID, Text: text, Own: true})
		w.Header().Set("X-Restli-Id", made.ID)
		control.JSON(w, http.StatusCreated, f.remark(made, 0))
	}
}

func (f *Fake) removeComment(w http.ResponseWriter, r *http.Request) {
	post, ok := f.Find(r.PathValue("urn"))
	switch {
	case !ok || r.URL.Query().Get("actor") != post.Account:
		refuse(w, http.StatusForbidden)
	case !f.RemoveComment(r.PathValue("id")):
		refuse(w, http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
