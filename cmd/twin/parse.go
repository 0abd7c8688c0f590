package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// accessors are one engine's package as sqlc wrote it.
type accessors struct {
	engine  dialect
	dir     string
	files   []*file
	structs map[string]*structType
	methods map[string]*method
	queries map[string]string // SQL texts by the name of their constant
}

type file struct {
	name    string
	src     []byte
	tree    *ast.File
	imports map[string]string // path by the name it has in the file
}

type structType struct {
	name, doc string
	file      *file
	fields    []field
	pos, end  token.Pos // of the struct type, without its name
}

type field struct{ name, typ, tag, doc string }

// method is one accessor: its signature and what it hands to the driver.
type method struct {
	name, doc, file string
	params, results []string // types
	signature       string   // from the opening parenthesis on
	sql             string
	args            []string // fields of arg, in the order of the call
	opaque          bool     // the call is not of sqlc's usual form
}

// dbFile holds what each engine keeps for itself: DBTX, New, Queries, WithTx.
const dbFile = "db.go"

func parsePackage(d dialect, dir string, found *problems) (*accessors, error) {
	acc := &accessors{
		engine: d, dir: dir,
		structs: map[string]*structType{}, methods: map[string]*method{}, queries: map[string]string{},
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no Go files: run sqlc generate first", dir)
	}
	for _, name := range names {
		f, err := parseFile(name)
		if err != nil {
			return nil, err
		}
		acc.files = append(acc.files, f)
	}
	for _, f := range acc.files {
		if f.name == assertFile {
			return nil, fmt.Errorf("%s is no raw output of sqlc: remove the folder and run sqlc generate first", dir)
		}
		acc.readDecls(f, found)
	}
	for _, m := range acc.methods {
		m.sql = acc.queries[m.sql]
	}
	return acc, nil
}

func parseFile(name string) (*file, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read accessors: %w", err)
	}
	// Each file has a set of its own, so that positions are offsets plus one.
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Base(name), src, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse accessors: %w", err)
	}
	f := &file{name: filepath.Base(name), src: src, tree: tree, imports: map[string]string{}}
	for _, spec := range tree.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		f.imports[importName(spec, p)] = p
	}
	return f, nil
}

func (acc *accessors) readDecls(f *file, found *problems) {
	if f.name == dbFile {
		return
	}
	for _, decl := range f.tree.Decls {
		switch decl := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				acc.readSpec(f, decl, spec, found)
			}
		case *ast.FuncDecl:
			if decl.Recv == nil || types.ExprString(decl.Recv.List[0].Type) != "*Queries" {
				found.add("%s: %s: only methods of *Queries can be shared", acc.engine, decl.Name.Name)
				continue
			}
			acc.methods[decl.Name.Name] = readMethod(f, decl)
		}
	}
}

func (acc *accessors) readSpec(f *file, decl *ast.GenDecl, spec ast.Spec, found *problems) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			found.add("%s: type %s: only structs can be shared (no enums: use text and a CHECK)", acc.engine, spec.Name.Name)
			return
		}
		acc.structs[spec.Name.Name] = readStruct(f, decl.Doc.Text(), spec, st)
	case *ast.ValueSpec:
		if decl.Tok != token.CONST || len(spec.Values) != 1 || spec.Type != nil {
			return
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			acc.queries[spec.Names[0].Name], _ = strconv.Unquote(lit.Value)
		}
	}
}

func readStruct(f *file, doc string, spec *ast.TypeSpec, st *ast.StructType) *structType {
	s := &structType{name: spec.Name.Name, doc: doc, file: f, pos: st.Pos(), end: st.End()}
	for _, fl := range st.Fields.List {
		tag := ""
		if fl.Tag != nil {
			tag = fl.Tag.Value
		}
		doc := strings.TrimSpace(fl.Doc.Text() + fl.Comment.Text())
		for _, name := range fl.Names {
			s.fields = append(s.fields, field{name.Name, types.ExprString(fl.Type), tag, doc})
		}
	}
	return s
}

func readMethod(f *file, decl *ast.FuncDecl) *method {
	m := &method{
		name: decl.Name.Name, doc: decl.Doc.Text(), file: f.name,
		params: fieldTypes(decl.Type.Params), results: fieldTypes(decl.Type.Results),
		signature: strings.TrimPrefix(types.ExprString(decl.Type), "func"),
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			m.readCall(call)
		}
		return true
	})
	return m
}

// readCall looks for q.db.Query(ctx, Name, arg.X, arg.Y).
func (m *method) readCall(call *ast.CallExpr) {
	if !strings.HasPrefix(types.ExprString(call.Fun), "q.db.") || len(call.Args) < 2 {
		return
	}
	m.sql = types.ExprString(call.Args[1])
	for _, arg := range call.Args[2:] {
		name, ok := strings.CutPrefix(types.ExprString(arg), "arg.")
		m.opaque = m.opaque || !ok || call.Ellipsis.IsValid()
		m.args = append(m.args, name)
	}
}

func fieldTypes(list *ast.FieldList) []string {
	var all []string
	if list == nil {
		return nil
	}
	for _, fl := range list.List {
		for range max(1, len(fl.Names)) {
			all = append(all, types.ExprString(fl.Type))
		}
	}
	return all
}
