package heif

import (
	"encoding/binary"
	"math"

	"github.com/content-automation/api/pkg/base/budget"
)

// fields reads the fields of a box. Behind the end it is short, and the values are 0.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if n < 0 || n > len(f.b) {
		f.short, f.b = true, nil
		return make([]byte, min(max(n, 0), 8))
	}
	taken := f.b[:n]
	f.b = f.b[n:]
	return taken
}

// uint reads a number of 0 to 8 bytes.
func (f *fields) uint(n int) (v uint64) {
	for _, b := range f.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (f *fields) int(n int) int { return int(f.uint(n)) }

// full reads the version and the flags of a box.
func (f *fields) full() (version, flags int) {
	v := f.int(4)
	return v >> 24, v & 0xffffff
}

// each calls f with the boxes in a part of the file.
func each(m *budget.Meter, b []byte, f func(name string, body []byte) error) error {
	for len(b) >= 8 {
		if err := m.Count(1); err != nil {
			return err
		}
		head, size := 8, uint64(binary.BigEndian.Uint32(b))
		name := string(b[4:8])
		switch {
		case size == 0:
			size = uint64(len(b))
		case size == 1 && len(b) >= 16:
			head, size = 16, binary.BigEndian.Uint64(b[8:])
		}
		if size < uint64(head) || size > uint64(len(b)) {
			return broken("a box %q of %d bytes, of which %d are there", name, size, len(b))
		}
		if err := f(name, b[head:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// property is a box of ipco.
type property struct {
	name string
	body []byte
}

// extent is a part of an item, in the file or in idat.
type extent struct{ at, length uint64 }

// item is a picture, or a part of one.
type item struct {
	kind       string
	inIdat     bool
	outside    bool // its data are in other items or files
	extents    []extent
	properties []property // in their order
	// refs are the items that it names, by the kind of reference.
	refs map[string][]int
}

// container is the description of a file.
type container struct {
	content []byte
	idat    []byte
	primary int
	items   map[int]*item
	// of are the items that name another as what they belong to, by the kind of reference.
	of       map[string]map[int][]int
	moving   bool
	all      []property
	assigned []assignment
	meter    *budget.Meter
}

// assignment is a property of an item, by its place from 1.
type assignment struct{ item, property int }

func (c *container) item(id int) *item {
	if c.items[id] == nil {
		c.items[id] = &item{refs: map[string][]int{}}
	}
	return c.items[id]
}

// parse reads the description of a file (ISO/IEC 14496-12, 23008-12).
func parse(m *budget.Meter, content []byte) (*container, error) {
	c := &container{content: content, items: map[int]*item{}, of: map[string]map[int][]int{}, meter: m}
	err := each(m, content, func(name string, body []byte) error {
		switch name {
		case "moov":
			c.moving = true
		case "meta":
			if len(body) < 4 {
				return broken("meta is too short")
			}
			return each(m, body[4:], c.meta)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, a := range c.assigned {
		if a.property > len(c.all) {
			return nil, broken("the property %d of %d", a.property, len(c.all))
		}
		of := c.item(a.item)
		of.properties = append(of.properties, c.all[a.property-1])
	}
	return c, nil
}

// meta reads a box of meta.
func (c *container) meta(name string, body []byte) error {
	f := &fields{b: body}
	var err error
	switch name {
	case "pitm":
		version, _ := f.full()
		c.primary = f.int(wide(version > 0))
	case "iinf":
		version, _ := f.full()
		f.take(wide(version > 0))
		err = each(c.meter, f.b, c.info)
	case "iloc":
		err = c.places(f)
	case "idat":
		c.idat = body
	case "iref":
		err = c.references(f)
	case "iprp":
		err = each(c.meter, body, c.described)
	}
	if err == nil && f.short {
		return broken("%s is too short", name)
	}
	return err
}

// wide returns the number of bytes of a number that may be wide.
func wide(is bool) int {
	if is {
		return 4
	}
	return 2
}

// info reads what an item is.
func (c *container) info(name string, body []byte) error {
	if name != "infe" {
		return nil
	}
	f := &fields{b: body}
	version, _ := f.full()
	if version < 2 {
		return nil // an item without a kind
	}
	id := f.int(wide(version > 2))
	f.take(2)
	c.item(id).kind = string(f.take(4))
	if f.short {
		return broken("infe is too short")
	}
	return nil
}

// places reads where the data of items are.
func (c *container) places(f *fields) error {
	version, _ := f.full()
	sizes := f.int(2)
	offset, length, base, index := sizes>>12&15, sizes>>8&15, sizes>>4&15, sizes&15
	if version == 0 {
		index = 0
	}
	for range f.int(wide(version > 1)) {
		if err := c.meter.Count(1); err != nil || f.short {
			return err
		}
		i := c.item(f.int(wide(version > 1)))
		method := 0
		if version > 0 {
			method = f.int(2) & 15
		}
		i.inIdat, i.outside = method == 1, method > 1 || f.int(2) != 0
		from := f.uint(base)
		i.extents = nil
		for range f.int(2) {
			if err := c.meter.Count(1); err != nil || f.short {
				return err
			}
			f.take(index)
			e := extent{from + f.uint(offset), f.uint(length)}
			i.extents = append(i.extents, e)
		}
	}
	return nil
}

// references reads which items belong together.
func (c *container) references(f *fields) error {
	version, _ := f.full()
	n := wide(version > 0)
	return each(c.meter, f.b, func(name string, body []byte) error {
		f := &fields{b: body}
		from := f.int(n)
		for range f.int(2) {
			if err := c.meter.Count(1); err != nil || f.short {
				return err
			}
			to := f.int(n)
			of := c.item(from)
			of.refs[name] = append(of.refs[name], to)
			if c.of[name] == nil {
				c.of[name] = map[int][]int{}
			}
			c.of[name][to] = append(c.of[name][to], from)
		}
		return nil
	})
}

// described reads the properties, and which items have them.
func (c *container) described(name string, body []byte) error {
	switch name {
	case "ipco":
		return each(c.meter, body, func(name string, body []byte) error {
			c.all = append(c.all, property{name, body})
			return nil
		})
	case "ipma":
		f := &fields{b: body}
		version, flags := f.full()
		for range f.int(4) {
			if err := c.meter.Count(1); err != nil || f.short {
				return err
			}
			id := f.int(wide(version > 0))
			for range f.int(1) {
				if err := c.meter.Count(1); err != nil {
					return err
				}
				bits := 8 * (1 + flags&1)
				if at := f.int(bits/8) & (1<<(bits-1) - 1); at > 0 {
					c.assigned = append(c.assigned, assignment{id, at})
				}
			}
		}
	}
	return nil
}

// property returns the first property of a name, or nil.
func (i *item) property(name string) []byte {
	for _, p := range i.properties {
		if p.name == name {
			return p.body
		}
	}
	return nil
}

// data returns the data of an item.
func (c *container) data(i *item) ([]byte, error) {
	in := c.content
	if i.inIdat {
		in = c.idat
	}
	if i.outside {
		return nil, broken("the data of a picture are outside of the file")
	}
	var all []byte
	for _, e := range i.extents {
		if e.length == 0 && len(i.extents) == 1 && e.at <= uint64(len(in)) {
			e.length = uint64(len(in)) - e.at // to the end
		}
		if e.at > uint64(len(in)) || e.length > uint64(len(in))-e.at || e.length > math.MaxInt32 {
			return nil, broken("the data of a picture are cut off: %d bytes at %d of %d", e.length, e.at, len(in))
		}
		if err := c.meter.Bytes(int64(e.length)); err != nil {
			return nil, err
		}
		part := in[e.at : e.at+e.length]
		if len(i.extents) == 1 {
			return part, nil
		}
		all = append(all, part...)
	}
	return all, nil
}
