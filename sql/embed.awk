# Turns migrations (NNNN_name.sql, in order of the arguments) and queries*.sql into one C header:
#   awk -f sql/embed.awk sql/sqlite/0001_init.sql … sql/sqlite/queries.sql > build/gen/sql.h
# A query begins with a line "-- name: some_name" and ends where the next one begins; other comment
# lines and blank ones are left out. "-- fragment: some_name" begins lines that are no query but stand
# where "-- include: some_name" says, further below; a ";" behind that name comes behind them.

function c_line(s) {
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    return "    \"" s "\\n\"\n"
}

FNR == 1 {
    is_queries = FILENAME ~ /queries[a-z_]*\.sql$/
    if (!is_queries)
        migrations++
}

function fail(what) {
    print FILENAME ":" FNR ": " what > "/dev/stderr"
    failed = 1
    exit 1
}

# One line of the query, or of the fragment, that is at work.
function put(s) {
    if (current_fragment == "")
        query[queries] = query[queries] c_line(s)
    else
        fragment[current_fragment] = fragment[current_fragment] s "\n"
}

/^-- fragment: [a-z0-9_]+$/ && is_queries {
    current_fragment = $3
    if ($3 in fragment)
        fail("fragment `" $3 "` twice")
    fragment[$3] = ""
    next
}

/^ *-- include: [a-z0-9_]+;?$/ && is_queries {
    end = sub(/;$/, "", $3) ? ";" : ""
    if (!($3 in fragment))
        fail("no fragment `" $3 "` above")
    count = split(fragment[$3], lines, "\n") - 1
    for (i = 1; i <= count; i++)
        put(lines[i] (i == count ? end : ""))
    next
}

/^-- name: [a-z0-9_]+$/ && is_queries {
    queries++
    current_fragment = ""
    name[queries] = $3
    if ($3 in seen)
        fail("query `" $3 "` twice")
    seen[$3] = 1
    next
}

/^[ \t]*--/ || /^[ \t]*$/ { next }

is_queries && queries == 0 && current_fragment == "" { fail("SQL before the first name") }

is_queries { put($0); next }
{ migration[migrations] = migration[migrations] c_line($0) }

END {
    if (failed)
        exit 1
    print "/* Made by sql/embed.awk from sql/; not to be edited. */"
    print "#ifndef STALLSYM_GEN_SQL_H\n#define STALLSYM_GEN_SQL_H\n"
    print "#define SQL_MIGRATIONS " migrations "\n"
    print "enum sql_query {"
    for (i = 1; i <= queries; i++)
        print "    SQL_" toupper(name[i]) ","
    print "    SQL_QUERIES\n};\n"
    print "extern const char *const sql_query_names[SQL_QUERIES];"
    print "extern const char *const sql_query_texts[SQL_QUERIES];"
    print "extern const char *const sql_migrations[SQL_MIGRATIONS];\n"
    print "#ifdef SQL_TEXTS"
    print "const char *const sql_query_names[SQL_QUERIES] = {"
    for (i = 1; i <= queries; i++)
        print "    \"" name[i] "\","
    print "};\n\nconst char *const sql_query_texts[SQL_QUERIES] = {"
    for (i = 1; i <= queries; i++)
        printf "    (\n%s    ),\n", query[i]
    print "};\n\nconst char *const sql_migrations[SQL_MIGRATIONS] = {"
    for (i = 1; i <= migrations; i++)
        printf "    (\n%s    ),\n", migration[i]
    print "};\n#endif\n\n#endif"
}
