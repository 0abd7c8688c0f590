package web

import "github.com/stint-run/stint/schema/coltype"

// PageQuery is embedded in the input of a list. An empty cursor= is refused like
// any parameter without a value; the first page has none.
type PageQuery struct {
	Limit  int64  `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many items a page holds at most."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before. It belongs to one list, filter and order."`
}

func (p PageQuery) page() PageQuery { return p }

// ShortPageQuery is PageQuery for lists whose items are large, or which other
// servers ask for page by page: the limit is required, and low.
type ShortPageQuery struct {
	Limit  int64  `query:"limit" required:"true" minimum:"1" maximum:"100" doc:"How many items a page holds at most."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before. It belongs to one list, filter and order."`
}

func (p ShortPageQuery) page() PageQuery { return PageQuery(p) }

// listed is the input of a list: it embeds PageQuery.
type listed interface{ page() PageQuery }

// Page is one page of a list. Only has_more = false ends a list: a page may be
// short, or empty, while it is true.
type Page[T any] struct {
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor" nullable:"true"`
}

func (p *Page[T]) next() *string { return p.NextCursor }

// maxListed is the size up to which a list shows a member, in bytes.
const maxListed = 4 << 10

// Member is a member of an item. A list leaves it out when it is large.
type Member struct {
	name string
	size int
	omit func()
}

// Omit leaves out the members that are over 4 KiB, and returns their names.
func Omit(members ...Member) (omitted []string) {
	omitted = []string{}
	for _, m := range members {
		if m.size > maxListed {
			m.omit()
			omitted = append(omitted, m.name)
		}
	}
	return omitted
}

// JSONMember is a member that holds JSON.
func JSONMember(name string, value *coltype.JSON) Member {
	return Member{name: name, size: len(*value), omit: func() { *value = nil }}
}

// TextMember is a member that holds text, or null.
func TextMember(name string, value **string) Member {
	if *value == nil {
		return Member{name: name}
	}
	return Member{name: name, size: len(**value), omit: func() { *value = nil }}
}
