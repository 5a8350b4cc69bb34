package store

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// input returns the call that reads the list. A list of keys takes no filters.
func (q Query) input(db *DB) (*dynamodb.QueryInput, error) {
	names := map[string]string{"#p": q.Index.pk}
	values := attributes{":p": str(q.Partition)}
	cond := "#p = :p"
	if q.From != "" || q.To != "" {
		names["#s"] = q.Index.sk
		values[":from"], values[":to"] = str(q.From), str(q.To)
		switch {
		case q.To == "":
			cond += " AND #s >= :from"
			delete(values, ":to")
		case q.From == "":
			cond += " AND #s <= :to"
			delete(values, ":from")
		default:
			cond += " AND #s BETWEEN :from AND :to"
		}
	}
	var filter []string
	// DynamoDB refuses a filter by an attribute that the index does not have. GetAll, which reads the items of an index
	// of keys, leaves out the expired ones.
	if !q.Index.keysOnly && !q.Expired {
		filter = append(filter, "(attribute_not_exists(#ttl) OR #ttl > :now)")
		names["#ttl"], values[":now"] = attrTTL, num(db.now().Unix())
	}
	n := 0
	// keep adds the condition that form holds for the filter and one value of the list.
	keep := func(name string, list []string, form, join string) {
		at, either := fmt.Sprint("#f", n), make([]string, len(list))
		for i, value := range list {
			to := fmt.Sprint(":f", n, "_", i)
			values[to], either[i] = str(value), fmt.Sprintf(form, at, to)
		}
		if len(list) > 0 {
			n++
			names[at] = filterPrefix + name
			filter = append(filter, "("+strings.Join(either, join)+")")
		}
	}
	for name, value := range q.Filters {
		if value != "" {
			keep(name, []string{value}, "%s = %s", " OR ")
		}
	}
	for name, list := range q.OneOf {
		keep(name, list, "%s = %s", " OR ")
	}
	for name, list := range q.Prefixes {
		keep(name, list, "begins_with(%s, %s)", " OR ")
	}
	for name, list := range q.Contains {
		keep(name, list, "contains(%s, %s)", " AND ")
	}
	for name, r := range q.Ranges {
		if r.From != "" {
			keep(name, []string{r.From}, "%s >= %s", "")
		}
		if r.To != "" {
			keep(name, []string{r.To}, "%s < %s", "")
		}
	}
	// within returns the condition that an item lies within bounds.
	within := func(bounds map[string]Bound) string {
		all := make([]string, 0, len(bounds))
		for name, b := range bounds {
			at, to, side := fmt.Sprint("#f", n), fmt.Sprint(":f", n), "<="
			if b.After {
				side = ">"
			}
			n++
			names[at], values[to] = filterPrefix+name, str(b.At)
			all = append(all, fmt.Sprintf("(attribute_not_exists(%s) OR %s %s %s)", at, at, side, to))
		}
		return strings.Join(all, " AND ")
	}
	if len(q.Bounds) > 0 {
		filter = append(filter, within(q.Bounds))
	}
	either := make([]string, len(q.Either))
	for i, bounds := range q.Either {
		either[i] = within(bounds)
	}
	switch condition := strings.Join(either, " OR "); len(either) { // AND binds tighter; more parentheses are refused
	case 0:
	case 1:
		filter = append(filter, condition)
	default:
		filter = append(filter, "("+condition+")")
	}
	if n > 0 && q.Index.keysOnly {
		return nil, fmt.Errorf("store: query %s %s: the index holds keys only, which no filter can judge",
			q.Index.name, q.Partition)
	}
	// Without a filter, one item beyond the limit shows whether the list continues.
	// With one, larger reads find the items that pass in fewer round trips.
	read := int32(q.Limit + 1)
	if n > 0 {
		read = max(read, 100)
	}
	in := &dynamodb.QueryInput{
		TableName: &db.name, KeyConditionExpression: &cond,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		Limit: &read, ScanIndexForward: aws.Bool(q.OldestFirst),
	}
	if len(filter) > 0 {
		in.FilterExpression = aws.String(strings.Join(filter, " AND "))
	}
	if q.Index.name != "" {
		in.IndexName = aws.String(q.Index.name)
	} else {
		in.ConsistentRead = aws.Bool(true)
	}
	if c := q.After; c != nil {
		in.ExclusiveStartKey = Key{c.PK, c.SK}.attributes()
		if q.Index.name != "" {
			in.ExclusiveStartKey[q.Index.pk] = str(q.Partition)
			in.ExclusiveStartKey[q.Index.sk] = str(c.Sort)
		}
	}
	return in, nil
}
