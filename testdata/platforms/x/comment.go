package x

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/content-automation/api/testdata/platforms/control"
)

// deletePrice is the price of a deletion, and of hiding a reply.
const deletePrice = 10

// stranger is the author of the replies of others.
const stranger = "783214"

func (f *Fake) charge(price int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Cost += price
}

// search lists the newest replies to a post, in the last seven days.
func (f *Fake) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	post, ok := strings.CutPrefix(q.Get("query"), "conversation_id:")
	most, err := strconv.Atoi(q.Get("max_results"))
	if !ok || err != nil || most < 10 || most > 100 || q.Get("expansions") != "author_id" ||
		q.Get("user.fields") != "username,name" || !strings.Contains(q.Get("tweet.fields"), "referenced_tweets") {
		bad(w)
		return
	}
	data, users, seen, next := []any{}, []any{}, map[string]bool{}, false
	for _, c := range f.CommentsOn(post) {
		if f.Now().Sub(c.At).Hours() > 7*24 {
			continue
		}
		if next = len(data) == most; next {
			break
		}
		author, handle, name, to := stranger, c.Handle, c.Name, c.Parent
		if c.Own {
			author, handle, name = User, "acme", "Acme"
		}
		if to == "" {
			to = post
		}
		data = append(data, map[string]any{"id": c.ID, "text": shown(Body{Text: c.Text}), "author_id": author,
			"created_at": c.At.UTC(), "referenced_tweets": []any{map[string]string{"type": "replied_to", "id": to}}})
		if !seen[author] {
			seen[author] = true
			users = append(users, map[string]string{"id": author, "username": handle, "name": name})
		}
	}
	f.charge(readPrice*len(data) + userPrice*len(users))
	meta := map[string]any{"result_count": len(data)}
	if next {
		meta["next_token"] = "b26v89c19zqg8o3f"
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data, "includes": map[string]any{"users": users}, "meta": meta})
}

func (f *Fake) hide(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Hidden *bool `json:"hidden"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Hidden == nil {
		bad(w)
		return
	}
	f.charge(deletePrice)
	if !f.HideComment(r.PathValue("id"), *body.Hidden) {
		refuse(w, http.StatusNotFound, "https://api.x.com/2/problems/resource-not-found", "Could not find tweet.")
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": map[string]bool{"hidden": *body.Hidden}})
}

// remove deletes a post or a reply of the account. It accepts one that does not exist.
func (f *Fake) remove(w http.ResponseWriter, r *http.Request) {
	f.charge(deletePrice)
	id := r.PathValue("id")
	if c, ok := f.FindComment(id); ok && !c.Own {
		refuse(w, http.StatusForbidden, "about:blank", "You are not authorized to delete this Tweet.")
		return
	}
	f.RemoveComment(id)
	f.Remove(id)
	control.JSON(w, http.StatusOK, map[string]any{"data": map[string]bool{"deleted": true}})
}
