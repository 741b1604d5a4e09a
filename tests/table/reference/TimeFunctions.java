import static org.apache.flink.table.utils.DateTimeUtils.*;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.Callable;
import org.apache.flink.table.data.TimestampData;

/**
 * Calls Flink's functions of times for the values in files of a directory, a line for each value.
 *
 * <p>Prints the zone, the expression of SQL that Flink computes so, the line, and the value; null
 * also where the function fails.
 */
public final class TimeFunctions {
  private static final TimeZone UTC = TimeZone.getTimeZone("UTC");
  private static final String[] PARTS = {
    "MILLENNIUM", "CENTURY", "DECADE", "YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY",
    "DOW", "ISODOW"
  };
  private static final String[] DAYS = {
    "MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK"
  };
  private static final String[] CLOCK = {"DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND"};
  private static final long[] CLOCK_MILLIS = {86_400_000, 3_600_000, 60_000, 1000, 1};
  private static final String[] PATTERNS = {
    "yyyy-MM-dd HH:mm:ss.SSSSSS", "EEE MMM d", "h:mm a", "D", "Q", "yy", "SS",
    "k K H h", "L", "EEEE MMMM", "E", "yyyyy"
  };
  private static final String[] READ = {
    "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd", "yyyy-MM-dd HH:mm", "HH:mm:ss.S", "yyyy"
  };
  private static final String[][] MOVES = {
    {"America/New_York", "Europe/Berlin"},
    {"Australia/Lord_Howe", "UTC"},
    {"UTC", "Australia/Lord_Howe"},
    {"GMT+05:30", "EST"}
  };

  private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
  private final Path directory;
  private final List<String> zones;
  private int row;

  private TimeFunctions(Path directory) throws IOException {
    this.directory = directory;
    this.zones = values("zones");
  }

  public static void main(String[] arguments) throws IOException {
    var functions = new TimeFunctions(Path.of(arguments[0]));
    functions.each("d", functions::dates);
    functions.each("us", functions::timestamps);
    functions.each("s", functions::texts);
    functions.each("w", functions::numbers);
    functions.out.flush();
  }

  private interface Case {
    void of(String text);
  }

  private List<String> values(String name) throws IOException {
    return Files.readAllLines(directory.resolve(name));
  }

  private void each(String name, Case function) throws IOException {
    row = 0;
    for (String value : values(name)) {
      function.of(value);
      row++;
    }
  }

  private void put(String zone, String expression, Callable<Object> value) {
    Object found;
    try {
      found = value.call();
    } catch (Exception | LinkageError error) {
      found = null;
    }
    out.println(zone + "\t" + expression + "\t" + row + "\t" + found);
  }

  private void put(String expression, Callable<Object> value) {
    put("UTC", expression, value);
  }

  private static TimeUnitRange unit(String name) {
    return TimeUnitRange.valueOf(name);
  }

  private static String shown(TimestampData time, TimeZone zone, int precision) {
    return time == null ? null : formatTimestamp(time, zone, precision);
  }

  private static String shown(long millis, TimeZone zone) {
    return shown(TimestampData.fromEpochMillis(millis), zone, 6);
  }

  private void dates(String text) {
    int day = (int) LocalDate.parse(text).toEpochDay();
    for (String name : PARTS) {
      put("EXTRACT(" + name + " FROM d)", () -> extractFromDate(unit(name), day));
    }
    for (String name : DAYS) {
      put("FLOOR(d TO " + name + ")", () -> formatDate((int) unixDateFloor(unit(name), day)));
      put("CEIL(d TO " + name + ")", () -> formatDate((int) unixDateCeil(unit(name), day)));
    }
    put("d + INTERVAL '1' MONTH", () -> formatDate(addMonths(day, 1)));
    put("d - INTERVAL '12' YEAR", () -> formatDate(addMonths(day, -144)));
    for (String name : zones) {
      var zone = TimeZone.getTimeZone(name);
      put(
          name,
          "CAST(d AS TIMESTAMP_LTZ(3))",
          () -> shown(dateToTimestampWithLocalZone(day, zone), zone, 3));
    }
  }

  private void timestamps(String text) {
    String[] parts = text.split(" ");
    var time =
        TimestampData.fromLocalDateTime(
            LocalDateTime.of(LocalDate.parse(parts[0]), LocalTime.parse(parts[1])));
    long millis = time.getMillisecond();
    int nanos = time.getNanoOfMillisecond();
    for (String name : PARTS) {
      put(
          "EXTRACT(" + name + " FROM us)",
          () -> extractFromDate(unit(name), (int) (millis / MILLIS_PER_DAY)));
    }
    put("EXTRACT(MILLISECOND FROM us)", () -> millis % 1000);
    put("EXTRACT(MICROSECOND FROM us)", () -> millis % 1000 * 1000 + nanos / 1000);
    put("EXTRACT(NANOSECOND FROM us)", () -> millis % 1000 * 1_000_000 + nanos);
    for (String name : DAYS) {
      put("FLOOR(us TO " + name + ")", () -> shown(unixTimestampFloor(unit(name), millis), UTC));
      put("CEIL(us TO " + name + ")", () -> shown(unixTimestampCeil(unit(name), millis), UTC));
    }
    for (int place = 0; place < CLOCK.length; place++) {
      long size = CLOCK_MILLIS[place];
      long floor = Math.floorDiv(millis, size) * size;
      long ceil = -Math.floorDiv(-millis, size) * size;
      put("FLOOR(us TO " + CLOCK[place] + ")", () -> shown(floor, UTC));
      put("CEIL(us TO " + CLOCK[place] + ")", () -> shown(ceil, UTC));
    }
    for (int digits : new int[] {0, 1, 3, 6}) {
      put(
          "CAST(us AS TIMESTAMP(" + digits + "))", () -> shown(truncate(time, digits), UTC, digits));
    }
    for (String pattern : PATTERNS) {
      put("DATE_FORMAT(us, '" + pattern + "')", () -> formatTimestamp(time, pattern));
    }
    for (String name : zones) {
      instants(name, time);
    }
  }

  private void instants(String name, TimestampData local) {
    var zone = TimeZone.getTimeZone(name);
    TimestampData instant = timestampToTimestampWithLocalZone(local, zone);
    String zoned = "CAST(us AS TIMESTAMP_LTZ(6))";
    put(name, zoned, () -> shown(instant, zone, 6));
    put(
        name,
        "CAST(" + zoned + " AS TIMESTAMP(6))",
        () -> shown(timestampWithLocalZoneToTimestamp(instant, zone), UTC, 6));
    put(
        name,
        "CAST(" + zoned + " AS DATE)",
        () -> formatDate(timestampWithLocalZoneToDate(instant, zone)));
    put(
        name,
        "CAST(" + zoned + " AS TIME(0))",
        () -> formatTimestampMillis(timestampWithLocalZoneToTime(instant, zone, 0), 0));
    for (String part :
        List.of("DECADE", "YEAR", "DAY", "DOY", "DOW", "HOUR", "SECOND", "MICROSECOND", "EPOCH")) {
      put(
          name,
          "EXTRACT(" + part + " FROM " + zoned + ")",
          () -> extractFromTimestamp(unit(part), instant, zone));
    }
    long millis = instant.getMillisecond();
    for (String part : List.of("MILLENNIUM", "DECADE", "MONTH", "WEEK", "DAY", "HOUR")) {
      put(
          name,
          "FLOOR(" + zoned + " TO " + part + ")",
          () -> shown(timestampFloor(unit(part), millis, zone), zone));
      put(
          name,
          "CEIL(" + zoned + " TO " + part + ")",
          () -> shown(timestampCeil(unit(part), millis, zone), zone));
    }
    put(
        name,
        "FLOOR(" + zoned + " TO MINUTE)",
        () -> shown(Math.floorDiv(millis, 60_000) * 60_000L, zone));
  }

  private void texts(String text) {
    put("TO_DATE(s)", () -> formatDate(parseDate(text)));
    put("TRY_CAST(s AS DATE)", () -> formatDate(parseDate(text)));
    put("TRY_CAST(s AS TIME(3))", () -> formatTimestampMillis(parseTime(text), 3));
    put("TRY_CAST(s AS TIMESTAMP(6))", () -> shown(parseTimestampData(text, 6), UTC, 6));
    for (String pattern : READ) {
      String given = "(s, '" + pattern + "')";
      put("TO_TIMESTAMP" + given, () -> shown(parseTimestampData(text, pattern), UTC, 3));
      put("TO_DATE" + given, () -> formatDate(parseDate(text, pattern)));
      for (String name : zones) {
        put(
            name,
            "UNIX_TIMESTAMP" + given,
            () -> unixTimestamp(text, pattern, TimeZone.getTimeZone(name)));
      }
    }
    for (String name : zones) {
      var zone = TimeZone.getTimeZone(name);
      put(
          name,
          "TRY_CAST(s AS TIMESTAMP_LTZ(6))",
          () -> shown(parseTimestampData(text, 6, zone), zone, 6));
    }
    for (String[] move : MOVES) {
      put(
          "CONVERT_TZ(s, '" + move[0] + "', '" + move[1] + "')",
          () -> convertTz(text, move[0], move[1]));
    }
    put("DATE_FORMAT(s, 'yyyy/MM HH')", () -> formatTimestampString(text, "yyyy/MM HH"));
  }

  private void numbers(String text) {
    long number = Long.parseLong(text);
    for (int digits : new int[] {0, 3, 6, 9}) {
      put(
          "TO_TIMESTAMP_LTZ(w, " + digits + ")",
          () -> shown(toTimestampData(number, digits), UTC, Math.max(digits, 3)));
    }
    for (int digits : new int[] {0, 3}) {
      put(
          "TO_TIMESTAMP_LTZ(CAST(w AS DOUBLE) / 8, " + digits + ")",
          () -> shown(toTimestampData(number / 8.0, digits), UTC, 3));
    }
    for (String name : zones) {
      var zone = TimeZone.getTimeZone(name);
      put(name, "FROM_UNIXTIME(w)", () -> formatUnixTimestamp(number, zone));
      String pattern = "EEE d MMM yyyy HH";
      put(
          name,
          "FROM_UNIXTIME(w, '" + pattern + "')",
          () -> formatUnixTimestamp(number, pattern, zone));
    }
  }
}
